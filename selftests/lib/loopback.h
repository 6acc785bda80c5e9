// SPDX-License-Identifier: GPL-2.0
/*
 * Two sockets connected over the loopback device of the calling thread's network
 * namespace. For tests whose peer must be a kernel's: kTLS, MPTCP, pages that
 * are handed over without a copy.
 */
#pragma once

#include "tcp_socket.h"

namespace selftest {

struct LoopbackPair {
	TcpSocket app;		/**< the socket under test */
	TcpSocket peer;
};

/** Connects them, IPv4; @protocol may be IPPROTO_MPTCP. Throws. */
LoopbackPair loopback_pair(int protocol = IPPROTO_TCP);

/** FIN from @peer; returns when @app is in CLOSE_WAIT. */
void finish(TcpSocket &peer, const TcpSocket &app);

/** RST from @peer, which is closed by it; returns when @app is in CLOSE. */
void reset(TcpSocket &peer, const TcpSocket &app);

} // namespace selftest
