// SPDX-License-Identifier: GPL-2.0
/*
 * What most tests of the purge begin with: a value of the sysctl, and a
 * connection whose peer has sent payload, FIN and RST while nobody read.
 */
#pragma once

#include "peer.h"

namespace selftest {

/** The values of net.ipv4.tcp_purge_receive_queue. */
enum class Purge { off, flush, lossless };

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

/** Sends @bytes of payload, if any, and the FIN in a segment of its own. */
void send_and_fin(Peer &peer, std::size_t bytes);

/** A connection that got @bytes, FIN and RST, with the sysctl at @value. */
Connection abandoned(Wire &wire, Family family, Purge value,
		     std::size_t bytes);

} // namespace selftest
