// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded: makes the kernel look as if it lacked or refused something.
 * REFUSE=genl: no generic netlink. REFUSE=getfd: pidfd_getfd(2) is refused, as at
 * Yama's ptrace_scope 3 or for a protected process.
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool refused(const char *what)
{
	const char *list = std::getenv("REFUSE");
	return list && std::strcmp(list, what) == 0;
}

extern "C" int socket(int domain, int type, int protocol) noexcept
{
	if (domain == AF_NETLINK && protocol == NETLINK_GENERIC && refused("genl")) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

extern "C" int pidfd_getfd(int pidfd, int fd, unsigned int flags) noexcept
{
	if (refused("getfd")) {
		errno = EPERM;
		return -1;
	}
	return static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, fd, flags));
}
