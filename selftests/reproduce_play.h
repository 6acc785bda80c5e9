// SPDX-License-Identifier: GPL-2.0
/*
 * Plays a case of the table: makes the connections, carries out the steps on
 * them, and reads what is left. Three kinds of connection are played alike: the
 * reader and the writer, whose calls are then tried in two orders because the
 * first call takes the error, and the crowd of --count, which is only looked at.
 */
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/peer.h"
#include "reproduce_cases.h"

namespace reproduce {

/** One line of what went over the wire, positions relative to the stream. */
struct WireLine {
	bool from_peer = false;
	std::string flags;
	std::int64_t seq = 0;
	std::optional<std::int64_t> ack{};
	std::size_t len = 0;
	unsigned window = 0;
	std::string text;
};

/** The many connections of --count. */
struct Crowd {
	std::size_t sockets = 0;
	std::size_t waiting = 0;	/**< in accept queues */
	std::map<std::pair<std::string, std::string>, std::size_t>
		by_state_and_queue{};
	std::uint32_t rmem_least = 0;	/**< bytes, per socket */
	std::uint32_t rmem_most = 0;
	std::uint64_t rmem_total = 0;
	std::int64_t unread_total = 0;
};

struct Report {
	const Case *what = nullptr;
	selftest::Family family{};
	int sysctl = 0;
	std::vector<WireLine> wire{};
	std::uint32_t waiting = 0;	/**< accept queue before accept() */
	std::string listed{};		/**< its state by sock_diag */
	selftest::Facts facts{};
	std::vector<std::string> reader_recv{};
	std::vector<std::string> reader_send{};
	std::vector<std::string> writer_send{};
	std::vector<std::string> writer_recv{};
	std::optional<Crowd> crowd{};
};

/** Differences from the table, one a line; empty when all is as it says. */
std::vector<std::string> differences(const Report &report);

/** Connections that were made; they live as long as this does. */
class Company {
public:
	/** Plays @what on @count new connections, in batches. */
	Company(selftest::Wire &wire, selftest::Family family, const Case &what,
		std::size_t count);

	[[nodiscard]] Crowd crowd() const;

private:
	friend Report play(selftest::Wire &, selftest::Family, const Case &,
			   int);

	struct Member {
		std::optional<selftest::TcpSocket> app{};
		std::unique_ptr<selftest::Peer> peer{};
	};

	void play_batch(std::size_t begin, std::size_t end);
	void start(Member &member);
	void apply(const Step &step, Member &member);
	selftest::Listener &listener();

	selftest::Wire &wire_;
	selftest::Family family_;
	const Case &what_;
	std::vector<std::unique_ptr<selftest::Listener>> listeners_{};
	std::vector<Member> members_;
};

/** Plays the reader and the writer; @sysctl is noted in the report. */
Report play(selftest::Wire &wire, selftest::Family family, const Case &what,
	    int sysctl);

} // namespace reproduce
