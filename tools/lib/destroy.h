/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ending a connection whose peer will never say anything again: SOCK_DESTROY
 * of the sock_diag family, as `ss -K` uses it.
 */
#pragma once

#include <vector>

#include "facts.h"
#include "result.h"

namespace rxstall {

/*
 * Destroys this socket, found by its addresses and cookie, in the calling
 * thread's network namespace. Its owner's next call gets ECONNABORTED, the
 * peer a RST (net/ipv4/tcp.c: tcp_abort); what is in the receive queue stays
 * there. Errors: EOPNOTSUPP without CONFIG_INET_DIAG_DESTROY, EPERM without
 * CAP_NET_ADMIN, ENOENT if it has gone.
 */
[[nodiscard]] Result<void> destroy_socket(const Socket &socket);

/* The owners of sockets with these inodes, from /proc; nothing is borrowed. */
void add_owners(std::vector<Socket> &sockets);

} // namespace rxstall
