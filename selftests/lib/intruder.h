// SPDX-License-Identifier: GPL-2.0
/*
 * Segments put into a connection over the loopback device whose ends are both
 * sockets: for a peer that would not send them itself. Its numbers are learned
 * by listening, so it has to exist before the connection.
 */
#pragma once

#include <cstdint>

#include "segment.h"
#include "unique_fd.h"

namespace selftest {

class Intruder {
public:
	/** Needs CAP_NET_RAW over the calling thread's network namespace. */
	Intruder();

	/** The connection is the one from @app_port to @peer_port. */
	void watch(std::uint16_t app_port, std::uint16_t peer_port);

	/** Takes in what has been sent since the last call. */
	void listen();

	/** Bytes of the peer's stream that the app's end has acknowledged. */
	[[nodiscard]] std::uint32_t acknowledged() const
	{
		return next_ - first_;
	}

	/** Sends @flags, no payload, as the peer, at the app's rcv_nxt. */
	void send(std::uint16_t flags);

private:
	unique_fd sniffer_, sender_;
	std::uint16_t app_port_ = 0, peer_port_ = 0;
	bool known_ = false;
	std::uint32_t first_ = 0;	/* the first byte's number */
	std::uint32_t next_ = 0;	/* what the app's end awaits */
	std::uint32_t app_next_ = 0;	/* what the peer awaits */
};

} // namespace selftest
