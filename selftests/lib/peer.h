// SPDX-License-Identifier: GPL-2.0
/*
 * The peer of hand-built segments. A Wire is a TUN device and all peers on it; a
 * Peer is the other end of one connection, driven by the test:
 *
 *	enter_new_netns();
 *	Wire wire;
 *	auto [app, peer] = wire.connect(Family::v4);
 *
 *	peer->send(data(20));
 *	peer->send(fin());
 *	peer->send(rst());
 *	app.recv(100);			// "20", with pattern(0, 20)
 *
 * The peer answers nothing by itself. It only remembers what arrived, so that
 * the numbers a Draft leaves open are right. A Wire and its peers belong to one
 * thread; application sockets may be used in others. Peers must be gone before
 * their Wire.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "segment.h"
#include "tcp_socket.h"
#include "tun.h"

namespace selftest {

using std::chrono::milliseconds;

/** What was expected did not come in time, or something came unexpected. */
class Unexpected : public std::runtime_error {
	using std::runtime_error::runtime_error;
};

/** What the peer's SYN or SYN-ACK says. */
struct Handshake {
	std::uint32_t isn = 0x10000000;	/**< sequence number of the SYN */
	std::uint16_t window = 65535;
	std::uint16_t mss = 1400;
	std::optional<std::uint8_t> wscale{};
	bool sack = false;
	bool timestamps = false;	/**< on every segment from then on */
};

/** One line of a connection's log. */
struct Logged {
	bool from_peer = false;
	Segment segment;
};

class Wire;

class Peer {
public:
	/** Sends @draft; what it leaves open follows from the connection. */
	void send(const Draft &draft);

	/** A matcher for expect(). */
	using Match = std::function<bool(const Segment &)>;

	/**
	 * The next segment from the kernel that has exactly @flags, PSH aside.
	 * Segments before it are passed over. Throws Unexpected after @timeout
	 * with what came instead.
	 */
	Segment expect(std::uint16_t flags, milliseconds timeout = patience);

	/** The same for any condition; @what names it in the error. */
	Segment expect(std::string_view what, const Match &match,
		       milliseconds timeout = patience);

	/** Throws Unexpected when the kernel sends anything within @duration. */
	void expect_silence(milliseconds duration = milliseconds(100));

	/** Whether the kernel has sent something not yet expected. */
	bool has_arrivals();

	/** Passes over everything that has arrived. */
	void drain();

	/** Everything on the wire since the start or the last forget(). */
	[[nodiscard]] const std::vector<Logged> &log();

	/** Empties the log and frees its memory; keeps the numbers. */
	void forget();

	/** Absolute: the peer's next number, and the next it awaits. */
	[[nodiscard]] std::uint32_t next_seq() const { return next_; }
	[[nodiscard]] std::uint32_t awaited() const { return awaited_; }

	/** Bytes the kernel's last window still lets the peer send. */
	[[nodiscard]] std::size_t usable_window();

	/** Bytes of window in the kernel's last segment: 0 is a closed one. */
	[[nodiscard]] std::size_t last_window() const { return window_; }

	/** Stream positions of a segment of this connection: 0 after the SYN. */
	[[nodiscard]] std::int64_t seq_position(const Logged &logged) const;
	[[nodiscard]] std::int64_t ack_position(const Logged &logged) const;

	/** One line: "P > C  FIN ACK  seq 20  ack 0  len 0  win 65535". */
	[[nodiscard]] std::string line(const Logged &logged) const;

	[[nodiscard]] const Path &path() const { return path_; }

	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;
	~Peer();

	static constexpr milliseconds patience{2000};

private:
	friend class Wire;

	Peer(Wire &wire, const Path &path, const Handshake &handshake);
	void arrived(Segment segment);
	[[nodiscard]] Segment resolve(const Draft &draft) const;
	[[nodiscard]] std::string pending_text() const;
	const Segment *next_match(const Match &match);

	Wire &wire_;
	Path path_;
	Handshake handshake_;
	std::uint32_t next_;		/* next number to send */
	bool has_syn_ = false;
	std::uint32_t kernel_isn_ = 0;
	std::uint32_t awaited_ = 0;	/* next number from the kernel */
	std::uint32_t window_ = 0;	/* of its last segment, scaled */
	std::uint32_t window_end_ = 0;	/* the right edge of that */
	std::uint8_t kernel_shift_ = 0;	/* its window scale, if both have it */
	std::uint32_t clock_ = 1;	/* TSval of the next segment */
	std::uint32_t echo_ = 0;	/* last TSval from the kernel */
	std::vector<Logged> log_;
	std::size_t seen_ = 0;		/* log lines expect() is done with */
};

/** A connection of the TCP under test and its hand-built other end. */
struct Connection {
	TcpSocket app;
	std::unique_ptr<Peer> peer;
};

class Wire {
public:
	/** Makes the TUN device in the calling thread's network namespace. */
	explicit Wire(int mtu = 1500) : tun_(mtu) {}

	/**
	 * The application connects: connect() has been called on @app, its SYN
	 * is the peer's first arrival, and nothing has been answered.
	 */
	std::unique_ptr<Peer> begin_connect(TcpSocket &app, Family family,
					    const Handshake &handshake = {});

	/** The same, carried through to ESTABLISHED on both sides. */
	std::unique_ptr<Peer> connect(TcpSocket &app, Family family,
				      const Handshake &handshake = {});

	/** A new socket, connected. */
	Connection connect(Family family, const Handshake &handshake = {});

	/** The peer connects: its SYN has been sent to @listener. */
	std::unique_ptr<Peer> begin_open(const Listener &listener,
					 const Handshake &handshake = {});

	/** The same, carried through: the child waits for accept(). */
	std::unique_ptr<Peer> open(const Listener &listener,
				   const Handshake &handshake = {});

	/** Opened by the peer, and accepted. */
	Connection accept(Listener &listener, const Handshake &handshake = {});

	/** Takes in everything the kernel has sent. */
	void pump();

	/** The same after waiting up to @timeout for something to come. */
	void pump(milliseconds timeout);

	Tun &tun() { return tun_; }

private:
	friend class Peer;

	std::unique_ptr<Peer> add(const Path &path, const Handshake &handshake);
	void transmit(const Path &path, const Segment &segment);

	Tun tun_;
	std::unordered_map<std::uint64_t, Peer *> peers_;
	std::uint32_t connects_ = 0;
	std::uint32_t opens_ = 0;
};

} // namespace selftest
