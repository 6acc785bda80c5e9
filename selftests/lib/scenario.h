// SPDX-License-Identifier: GPL-2.0
/*
 * What most tests of the purge begin with: a value of the sysctl, and a
 * connection whose peer has sent payload, FIN and RST while nobody read.
 */
#pragma once

#include "counters.h"
#include "peer.h"

namespace selftest {

/** The values of net.ipv4.tcp_purge_receive_queue. */
enum class Purge { off, flush, lossless };

/** All of them, for tests that take each in turn. */
inline constexpr Purge purge_values[] = {Purge::off, Purge::flush,
					 Purge::lossless};

/** "off", "flush", "lossless". */
const char *to_string(Purge value);

/**
 * Sets the sysctl in the calling thread's network namespace. Does nothing on a
 * kernel without it: the test goes on, and finds today's behaviour. Throws
 * std::system_error if the kernel has it and refuses.
 */
void set_purge(Purge value);

/** Whether @value frees a queue with @bytes of unread payload. */
inline bool purges(Purge value, std::size_t bytes)
{
	return value == Purge::flush || (value == Purge::lossless && !bytes);
}

/** What the receive queue holds when the RST comes. */
enum class Left { nothing, fin, payload };

/** Whether @value frees a queue with @left in it. */
inline bool purges(Purge value, Left left)
{
	return left != Left::nothing && purges(value, left == Left::payload);
}

/** Sends @bytes of payload, if any, and the FIN in a segment of its own. */
void send_and_fin(Peer &peer, std::size_t bytes);

/** A connection that got @bytes, FIN and RST, with the sysctl at @value. */
Connection abandoned(Wire &wire, Family family, Purge value,
		     std::size_t bytes);

/**
 * Reads @size bytes, those that the peer sent from @position on; throws Unmet if
 * it gets anything else.
 */
void read_exactly(TcpSocket &app, std::size_t size, std::int64_t position = 0);

/** The outcomes of two recv() of up to 100 bytes: "20 0". */
std::string two_reads(TcpSocket &app);

/**
 * The outcomes of two calls that read, where the queue held @bytes, up to 100,
 * and a FIN when the RST came: "20 0".
 */
std::string reads_after_reset(Purge value, std::size_t bytes);

/**
 * Throws Unmet unless the two counters of the purge have grown by @purged and
 * @unread since @before. Accepts a kernel that has no such counters.
 */
void expect_counted(const Counters &before, int purged, int unread);

} // namespace selftest
