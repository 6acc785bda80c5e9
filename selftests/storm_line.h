// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of the storm on the wire: made as its script says, its peer's
 * segments sent, the model kept up to date, and what the kernel made of each
 * reset compared with it.
 */
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "lib/facts.h"
#include "storm_model.h"

namespace storm {

/** What a worker has for all its sequences: its network namespace is its own. */
struct Bench {
	Wire wire{};
	std::array<Listener, 3> listeners{Listener(Family::v4),
					  Listener(Family::v6),
					  Listener(Family::mapped)};
	Purge purge = Purge::off;	/**< the value that is set */

	/** Sets the sysctl, if it has another value. */
	void set(Purge value);
};

/** A reset that the kernel accepted in CLOSE_WAIT, and what it found. */
struct Purged {
	bool queue = false;		/**< there was something to free */
	std::int64_t unread = 0;	/**< bytes of payload in it */
};

class Line {
public:
	/** Connects. A passive connection waits for accept(). */
	Line(Bench &bench, const Script &script);

	/** Takes the connection out of the listener's queue. */
	void accept();
	/** Sends the segment of @step; it must be one of the peer's. */
	void send(const Step &step);
	/** The same without a look at the kernel: the application is running. */
	void send_blindly(const Step &step);
	/** After blind sending: takes in what the kernel made of it. */
	void settle();
	/** Closes the descriptor as an application does. */
	void close();

	/** Whether there is a descriptor to call with. */
	[[nodiscard]] bool open() const { return app_.has_value(); }
	[[nodiscard]] bool closed() const { return was_closed_; }
	TcpSocket &app() { return *app_; }
	Model &model() { return model_; }
	Peer &peer() { return *peer_; }
	/** Of the reset in CLOSE_WAIT, if there was one. */
	[[nodiscard]] const std::optional<Purged> &found() const { return found_; }
	/** Whether the sysctl, as it is set now, frees such a queue. */
	[[nodiscard]] bool frees(const Purged &queue) const;

private:
	[[nodiscard]] std::optional<DiagFacts> look() const;
	[[nodiscard]] std::int64_t position_of(const Step &step) const;
	[[nodiscard]] Draft draft_of(const Step &step) const;
	void note_arrival(const Step &step);
	void compare_progress();
	void reset(const Step &step);
	void check_end(std::uint32_t rmem, bool freed, int peek_offset,
		       int announced);

	Bench &bench_;
	const Script &script_;
	Model model_;
	Listener &listener_;
	std::optional<TcpSocket> app_;
	std::unique_ptr<Peer> peer_;
	Address local_, remote_;
	std::optional<Purged> found_;
	bool was_closed_ = false;
	/* What accept() must find: nothing held, something held. */
	std::optional<bool> held_when_accepted_;
};

} // namespace storm
