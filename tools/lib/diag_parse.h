/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading one answer of the sock_diag family (struct inet_diag_msg and its
 * attributes). The bytes are validated before use; nothing is read beyond
 * what arrived.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "facts.h"

namespace rxstall {

struct DiagSocket {
	Socket socket;			/* netns and owners are not part of an answer */
	uint32_t receive_queue = 0;	/* a listener's: connections not yet accepted */
};

/*
 * payload is what follows the netlink header. Nothing if it is too short to
 * name a socket. A truncated or foreign attribute leaves its fact unset.
 */
[[nodiscard]] std::optional<DiagSocket> parse_diag(std::span<const uint8_t> payload);

/* Has the peer's FIN been counted into the receive sequence in this state? */
[[nodiscard]] bool fin_received(State state);

} // namespace rxstall
