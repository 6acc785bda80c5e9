/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looking through another process's descriptor. A duplicate of a live
 * socket's descriptor would delay its FIN and keep its port, so only
 * suspects are borrowed, and briefly. Nothing here takes a pending error
 * (SO_ERROR) or payload away from the owner.
 */
#pragma once

#include <cstdint>

#include "facts.h"
#include "fd.h"
#include "result.h"

namespace rxstall {

/* A process whose descriptors may be duplicated (pidfd_open(2)). */
class [[nodiscard]] Lender {
public:
	/* Errors: ESRCH for a process that has gone, ENOSYS before Linux 5.3. */
	static Result<Lender> open(int pid);

	/*
	 * A duplicate of the process's descriptor, if it is still the socket
	 * with this inode: between readdir() and here the number may have been
	 * closed and reused. Errors: EPERM (ptrace access), EBADF (closed), ESTALE
	 * (another file by now).
	 */
	Result<Fd> borrow(int fd, uint64_t inode) const;

private:
	explicit Lender(Fd pidfd) : pidfd_(std::move(pidfd)) {}

	Fd pidfd_;
};

/*
 * The facts of a TCP socket by its descriptor: TCP_INFO, SO_MEMINFO,
 * FIONREAD, poll() and names. Errors: EPROTONOSUPPORT if it is no TCP socket
 * (MPTCP included), or the errno of the call that failed.
 */
[[nodiscard]] Result<Socket> read_socket(int fd, uint64_t inode);

/* State of a TCP socket alone, the cheapest question; errors as above. */
[[nodiscard]] Result<State> read_state(int fd);

} // namespace rxstall
