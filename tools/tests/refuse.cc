// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded: makes the kernel look as if it lacked or refused something.
 * REFUSE=genl: no generic netlink. REFUSE=getfd: pidfd_getfd(2) is refused, as at
 * Yama's ptrace_scope 3 or for a protected process. REFUSE=capabilities: all are
 * dropped when a poll(2) ends and the file named by REFUSE_WHEN exists.
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <poll.h>
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

extern "C" int poll(pollfd *entries, nfds_t count, int milliseconds)
{
	const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
	const long ready = syscall(SYS_ppoll, entries, count, milliseconds < 0 ? nullptr : &limit, nullptr, 0);
	const int error = errno;
	const char *when = std::getenv("REFUSE_WHEN");
	if (when && refused("capabilities") && access(when, F_OK) == 0) {
		__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
		const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
		syscall(SYS_capset, &header, none);
	}
	errno = error;
	return static_cast<int>(ready);
}
