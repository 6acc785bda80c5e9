// SPDX-License-Identifier: GPL-2.0
/*
 * The states that connections are found in, as a table: how the connection
 * starts, what each side does then, and what must be left of it for each value
 * of the sysctl. C is the application with its kernel, P the peer.
 */
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "lib/facts.h"
#include "lib/segment.h"

namespace reproduce {

enum class Start {
	connected,	/**< C connected to P */
	connecting,	/**< C's SYN is unanswered */
	unaccepted,	/**< P connected to C, nobody called accept() */
};

enum class Op {
	peer_sends,	/**< flags, n bytes, offset from its next number */
	peer_fills,	/**< data until the window is full */
	app_sends,	/**< n bytes */
	app_receives,	/**< up to n bytes */
	app_shuts_down,	/**< shutdown(SHUT_WR) */
	app_keepalive,	/**< keepalive after one second */
	app_stamps,	/**< transmit timestamps on */
	app_must_send,	/**< a segment with just these flags is awaited */
};

struct Step {
	Op op;
	int n = 0;
	std::uint16_t flags = 0;
	int offset = 0;
};

/** What is left after the steps, and what the calls return then. */
struct Left {
	selftest::Queue queue;
	int unread;			/**< bytes; any_unread for "some" */
	std::string_view reader;	/**< three recv(), then two send() */
	std::string_view writer;	/**< two send(), then one recv() */
};

inline constexpr int any_unread = -1;

struct Case {
	std::string_view name;
	std::string_view help;
	Start start;
	std::vector<Step> steps;
	std::string_view state;		/**< by TCP_INFO */
	std::string_view listed;	/**< state by sock_diag */
	std::string_view poll;
	/** By the sysctl: 0 (and a kernel without it), 1, 2. */
	std::array<Left, 3> left;
};

std::span<const Case> cases();

} // namespace reproduce
