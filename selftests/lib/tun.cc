// SPDX-License-Identifier: GPL-2.0
#include "tun.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cstring>

#include "address.h"
#include "checked.h"
#include "netlink.h"
#include "packet_pair.h"
#include "sysctl.h"

namespace selftest {

namespace {

/* Room for the answers to many segments sent in one go; the default is 500. */
constexpr int queue_packets = 16384;
constexpr int v4_prefix_mask = static_cast<int>(0xfffe0000); /* /15 */
constexpr int v6_prefix_length = 64;

ifreq request_for(const std::string &name)
{
	ifreq req{};

	name.copy(req.ifr_name, IFNAMSIZ - 1);
	return req;
}

void set_v4_address(int fd, const std::string &name)
{
	const Address address = kernel_address(Family::v4, 0);
	ifreq req = request_for(name);
	sockaddr_in mask{};

	std::memcpy(&req.ifr_addr, &address.storage, sizeof(req.ifr_addr));
	check(::ioctl(fd, SIOCSIFADDR, &req), "SIOCSIFADDR");
	mask.sin_family = AF_INET;
	mask.sin_addr.s_addr = htonl(v4_prefix_mask);
	std::memcpy(&req.ifr_netmask, &mask, sizeof(mask));
	check(::ioctl(fd, SIOCSIFNETMASK, &req), "SIOCSIFNETMASK");
}

void set_v6_address(const std::string &name, int ifindex)
{
	const Address address = kernel_address(Family::v6, 0);
	const unique_fd fd(check(
		::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
	in6_ifreq req{};

	/* Only the peer's segments are to be seen: no router solicitation. */
	(void)sysctl_write("net.ipv6.conf." + name + ".accept_ra", "0");
	(void)sysctl_write("net.ipv6.conf." + name + ".addr_gen_mode", "1");
	req.ifr6_addr =
		reinterpret_cast<const sockaddr_in6 *>(address.get())->sin6_addr;
	req.ifr6_prefixlen = v6_prefix_length;
	req.ifr6_ifindex = ifindex;
	check(::ioctl(fd.get(), SIOCSIFADDR, &req), "SIOCSIFADDR (IPv6)");
}

/* SIOCSIFTXQLEN does not know user namespaces, rtnetlink does. */
void set_up(int ifindex, int mtu)
{
	NetlinkRequest request(RTM_NEWLINK, NLM_F_ACK);
	auto &link = request.put<ifinfomsg>();

	link.ifi_index = ifindex;
	link.ifi_flags = IFF_UP;
	link.ifi_change = IFF_UP;
	mnl_attr_put_u32(request.header(), IFLA_MTU,
			 static_cast<std::uint32_t>(mtu));
	mnl_attr_put_u32(request.header(), IFLA_TXQLEN, queue_packets);
	request.send(NETLINK_ROUTE, "RTM_NEWLINK (up, MTU, queue length)");
}

/*
 * The address is usable, and its local route there, only after a worker has been
 * through addrconf_dad_work(), even where no duplicate is looked for. A datagram
 * to ourselves shows it.
 */
void await_v6_address()
{
	/* Long enough for a debug kernel with many tests at a time. */
	constexpr int attempts = 3000;
	constexpr int attempt_ms = 10;
	const Address any = kernel_address(Family::v6, 0);

	for (int i = 0; i < attempts; i++) {
		const unique_fd fd(
			check(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0),
			      "socket"));
		pollfd wanted{fd.get(), POLLIN, 0};

		if (::bind(fd.get(), any.get(), any.length) == 0) {
			const Address self = local_address(fd.get());

			(void)::sendto(fd.get(), "", 0, 0, self.get(),
				       self.length);
		}
		if (::poll(&wanted, 1, attempt_ms) > 0)
			return;
	}
	fail(ETIMEDOUT, "the IPv6 address of the TUN device is not usable");
}

bool have_ipv6()
{
	return ::access("/proc/thread-self/net/if_inet6", F_OK) == 0;
}

} // namespace

Tun::Tun(int mtu)
	: fd_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)),
	  buffer_(65536)
{
	const unique_fd control(check(
		::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
	ifreq req = request_for("tun%d");

	if (fd_) {
		req.ifr_flags = IFF_TUN | IFF_NO_PI;
		check(::ioctl(fd_.get(), TUNSETIFF, &req), "TUNSETIFF");
		name_ = req.ifr_name;
	} else {
		PacketPair pair = make_packet_pair();

		fd_ = std::move(pair.fd);
		name_ = pair.name;
		to_kernel_ = pair.to_kernel;
	}
	req = request_for(name_);
	check(::ioctl(control.get(), SIOCGIFINDEX, &req), "SIOCGIFINDEX");
	set_v4_address(control.get(), name_);
	if (have_ipv6())
		set_v6_address(name_, req.ifr_ifindex);
	set_up(req.ifr_ifindex, mtu);
	if (have_ipv6())
		await_v6_address();
}

std::optional<std::span<const std::uint8_t>> Tun::read()
{
	const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return std::nullopt;
	check(n, "read from the TUN device");
	return std::span(buffer_).first(static_cast<std::size_t>(n));
}

void Tun::write(std::span<const std::uint8_t> packet)
{
	if (!to_kernel_) {
		check(::write(fd_.get(), packet.data(), packet.size()),
		      "write to the TUN device");
		return;
	}
	to_kernel_->sll_protocol =
		htons(packet[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP);
	check(::sendto(fd_.get(), packet.data(), packet.size(), 0,
		       reinterpret_cast<const sockaddr *>(&*to_kernel_),
		       sizeof(*to_kernel_)),
	      "sendto the packet socket");
}

std::size_t Tun::burst() const
{
	/* The packet socket's default buffer, at 832 bytes a small packet. */
	constexpr std::size_t packet_socket_packets = 200;

	return to_kernel_ ? packet_socket_packets : queue_packets;
}

bool Tun::wait(int timeout_ms)
{
	pollfd wanted{fd_.get(), POLLIN, 0};

	/* A signal ends the wait like its timeout: the caller asks again. */
	return ::poll(&wanted, 1, timeout_ms) > 0;
}

} // namespace selftest
