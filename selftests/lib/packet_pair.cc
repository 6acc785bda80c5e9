// SPDX-License-Identifier: GPL-2.0
#include "packet_pair.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "checked.h"
#include "netlink.h"
#include "sysctl.h"

namespace selftest {

namespace {

const char *const kernel_end = "tcp0";
const char *const peer_end = "peer0";

void make_pair()
{
	NetlinkRequest request(RTM_NEWLINK,
			       NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	nlmsghdr *header = request.header();

	request.put<ifinfomsg>();
	mnl_attr_put_strz(header, IFLA_IFNAME, kernel_end);

	nlattr *info = mnl_attr_nest_start(header, IFLA_LINKINFO);

	mnl_attr_put_strz(header, IFLA_INFO_KIND, "veth");

	nlattr *data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
	nlattr *other = mnl_attr_nest_start(header, VETH_INFO_PEER);

	request.put<ifinfomsg>();
	mnl_attr_put_strz(header, IFLA_IFNAME, peer_end);
	mnl_attr_nest_end(header, other);
	mnl_attr_nest_end(header, data);
	mnl_attr_nest_end(header, info);
	request.send(NETLINK_ROUTE, "RTM_NEWLINK veth");
}

void set_flags(int ifindex, unsigned flags)
{
	NetlinkRequest request(RTM_NEWLINK, NLM_F_ACK);
	auto &link = request.put<ifinfomsg>();

	link.ifi_index = ifindex;
	link.ifi_flags = flags;
	link.ifi_change = flags;
	request.send(NETLINK_ROUTE, "RTM_NEWLINK (flags)");
}

ifreq ask(int fd, const char *name, unsigned long number, const char *what)
{
	ifreq req{};

	::strncpy(req.ifr_name, name, sizeof(req.ifr_name) - 1);
	check(::ioctl(fd, number, &req), what);
	return req;
}

} // namespace

PacketPair make_packet_pair()
{
	make_pair();

	unique_fd fd(check(::socket(AF_PACKET,
				    SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
				    0),
			   "socket(AF_PACKET)"));
	const auto index = [&](const char *name) {
		return ask(fd.get(), name, SIOCGIFINDEX, "SIOCGIFINDEX")
			.ifr_ifindex;
	};
	const ifreq hardware =
		ask(fd.get(), kernel_end, SIOCGIFHWADDR, "SIOCGIFHWADDR");
	sockaddr_ll link{};

	link.sll_family = AF_PACKET;
	link.sll_protocol = htons(ETH_P_ALL);
	link.sll_ifindex = index(peer_end);
	link.sll_halen = ETH_ALEN;
	std::memcpy(link.sll_addr, hardware.ifr_hwaddr.sa_data, ETH_ALEN);

	/* The peer's end is no host: frames go to the packet socket alone. */
	(void)sysctl_write(std::string("net.ipv6.conf.") + peer_end +
				   ".disable_ipv6", "1");
	set_flags(index(kernel_end), IFF_NOARP);
	set_flags(link.sll_ifindex, IFF_UP | IFF_NOARP);
	check(::bind(fd.get(), reinterpret_cast<const sockaddr *>(&link),
		     sizeof(link)),
	      "bind(AF_PACKET)");
	return {std::move(fd), kernel_end, link};
}

} // namespace selftest
