// SPDX-License-Identifier: GPL-2.0
/*
 * What can be read of a TCP socket without changing it: through its descriptor,
 * and through sock_diag as long as it is hashed. SO_ERROR is not among it:
 * reading it takes the error away (sock_error() in net/core/sock.c).
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "address.h"

namespace selftest {

/** States as TCP_INFO gives them, include/net/tcp_states.h. */
enum TcpState : int {
	ESTABLISHED = 1,
	SYN_SENT,
	SYN_RECV,
	FIN_WAIT1,
	FIN_WAIT2,
	TIME_WAIT,
	CLOSE,
	CLOSE_WAIT,
	LAST_ACK,
	LISTEN,
	CLOSING,
};

/** "CLOSE_WAIT"; "state N" for a number that is none. */
std::string state_name(int state);

/** What a receive queue or error queue still holds. */
enum class Queue { empty, payload, fin, out_of_order, error_queue };

/** "empty", "payload unread", "FIN only", "out of order", "error queue". */
const char *to_string(Queue queue);

struct Facts {
	int state = 0;		/**< tcpi_state */
	std::uint32_t rmem = 0;	/**< SO_MEMINFO, bytes of truesize held */
	int unread = 0;		/**< FIONREAD, bytes; stops at an urgent mark */
	int poll = 0;		/**< POLLIN, OUT, PRI, ERR, HUP, RDHUP now */
	std::uint32_t ooo_packets = 0;	/**< tcpi_rcv_ooopack, ever received */
	bool stamps = false;	/**< SO_TIMESTAMPING or SO_ZEROCOPY is on */

	/**
	 * The class, from the figures above: what is held and neither payload
	 * nor out of order nor on the error queue is a segment with only a FIN.
	 */
	[[nodiscard]] Queue queue() const;
};

/** Reads them from @fd, a TCP socket; throws std::system_error. */
Facts facts_of(int fd);

/**
 * Waits until the socket is in @state; throws std::system_error(ETIMEDOUT) after
 * some seconds. For peers that are a kernel's: a hand-built one needs no waiting.
 */
void wait_for_state(int fd, int state);

/** "IN OUT ERR HUP RDHUP", in this order, of poll bits. */
std::string poll_text(int bits);

/** The length of a listener's accept queue (tcpi_unacked). */
std::uint32_t accept_queue_of(int listener);

/** What sock_diag tells of one connection. */
struct DiagFacts {
	int state = 0;
	/** rcv_nxt - copied_seq for a connection: an unread FIN counts as 1. */
	std::uint32_t rqueue = 0;
	/** write_seq - snd_una. */
	std::uint32_t wqueue = 0;
	/** INET_DIAG_SKMEMINFO's rmem, bytes. */
	std::uint32_t rmem = 0;
};

/**
 * Looks a connection up by its exact addresses. Nothing when it is not hashed:
 * that is so for every socket in CLOSE. Needs no privilege.
 */
std::optional<DiagFacts> diag_lookup(Family family, const Address &local,
				     const Address &remote);

} // namespace selftest
