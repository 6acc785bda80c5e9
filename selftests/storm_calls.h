// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of a script's application, as system calls. None of them judges what
 * it saw.
 */
#pragma once

#include "lib/tcp_socket.h"
#include "storm_script.h"

namespace storm {

/** What a call did. */
struct Seen {
	Outcome outcome;
	/** The error that came as a value: of SO_ERROR, or in zc.err. */
	int value_error = 0;
	/** Bytes that were mapped, not copied (TCP_ZEROCOPY_RECEIVE). */
	std::int64_t mapped = 0;
};

/**
 * Makes the call of @step, one of recv, splice, zerocopy, oob, send, so_error,
 * low_water, facts or peek_offset. @wait is MSG_DONTWAIT or 0. Throws
 * std::system_error if what the call needs cannot be had.
 */
Seen make_call(TcpSocket &app, const Step &step, int wait);

/** SO_PEEK_OFF; -1 when it is off, and where TCP has none (before 6.9). */
int peek_offset_of(const TcpSocket &app);

/** tcpi_bytes_received: how far the kernel has received, its FIN included. */
std::int64_t bytes_received(const TcpSocket &app);

} // namespace storm
