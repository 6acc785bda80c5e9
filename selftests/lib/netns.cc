// SPDX-License-Identifier: GPL-2.0
#include "netns.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <string>

#include "checked.h"

namespace selftest {

namespace {

const char *const own_netns = "/proc/thread-self/ns/net";

void write_file(const char *path, const std::string &text)
{
	unique_fd fd(check(::open(path, O_WRONLY | O_CLOEXEC), path));

	check(::write(fd.get(), text.data(), text.size()), path);
}

void loopback_up()
{
	unique_fd fd(check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
			   "socket"));
	ifreq req{};

	std::strcpy(req.ifr_name, "lo");
	req.ifr_flags = IFF_UP;
	check(::ioctl(fd.get(), SIOCSIFFLAGS, &req), "SIOCSIFFLAGS lo");
}

void unshare_as_user()
{
	const std::string uid = std::to_string(::geteuid());
	const std::string gid = std::to_string(::getegid());

	if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		fail(errno, "a new user namespace is refused, and without one "
			    "this needs root: unshare(CLONE_NEWUSER)");
	/* A process without CAP_SETGID may map its group only after this. */
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 " + uid + " 1");
	write_file("/proc/self/gid_map", "0 " + gid + " 1");
}

unique_fd open_own_netns()
{
	return unique_fd(check(::open(own_netns, O_RDONLY | O_CLOEXEC),
			       own_netns));
}

} // namespace

void enter_new_netns()
{
	if (::unshare(CLONE_NEWNET) < 0) {
		if (errno != EPERM)
			fail(errno, "unshare(CLONE_NEWNET)");
		unshare_as_user();
	}
	loopback_up();
}

Netns Netns::current()
{
	return Netns(open_own_netns());
}

Netns Netns::create()
{
	const Scope back(current());

	check(::unshare(CLONE_NEWNET), "unshare(CLONE_NEWNET)");
	loopback_up();
	return current();
}

Netns::Scope::Scope(const Netns &target) : before_(open_own_netns())
{
	check(::setns(target.fd(), CLONE_NEWNET), "setns");
}

Netns::Scope::~Scope()
{
	/* Going on in the wrong namespace would falsify every later result. */
	if (::setns(before_.get(), CLONE_NEWNET) < 0)
		std::terminate();
}

} // namespace selftest
