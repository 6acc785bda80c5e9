/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Asks sock_diag for the TCP sockets of the calling thread's network
 * namespace. Sockets in CLOSE are in no hash table and so never listed.
 */
#pragma once

#include <functional>

#include "diag_parse.h"
#include "result.h"

namespace rxstall {

/* How much of each socket to ask for. */
enum class Detail : uint8_t { identity, memory };

/*
 * Calls visit for each TCP socket, IPv4 and IPv6, in one of the states (mask
 * of 1 << state). Errors: the kernel's, by errno, or a dump it interrupted.
 */
[[nodiscard]] Result<void> dump_sockets(uint32_t states, Detail detail,
					const std::function<void(const DiagSocket &)> &visit);

} // namespace rxstall
