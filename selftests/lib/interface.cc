// SPDX-License-Identifier: GPL-2.0
#include "interface.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "checked.h"
#include "unique_fd.h"

namespace selftest {

namespace {

void call(ifreq &request, const std::string &name, unsigned long number)
{
	const unique_fd fd(check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
				 "socket"));

	name.copy(request.ifr_name, IFNAMSIZ - 1);
	check(::ioctl(fd.get(), number, &request),
	      ("configuring " + name).c_str());
}

void set_ip(const std::string &name, const char *ip, unsigned long number)
{
	ifreq request{};
	auto *in = reinterpret_cast<sockaddr_in *>(&request.ifr_addr);

	in->sin_family = AF_INET;
	::inet_pton(AF_INET, ip, &in->sin_addr);
	call(request, name, number);
}

} // namespace

void interface_up(const std::string &name, bool up)
{
	ifreq request{};

	request.ifr_flags = up ? IFF_UP : 0;
	call(request, name, SIOCSIFFLAGS);
}

void interface_address(const std::string &name, const char *ip,
		       const char *netmask)
{
	set_ip(name, ip, SIOCSIFADDR);
	set_ip(name, netmask, SIOCSIFNETMASK);
}

} // namespace selftest
