// SPDX-License-Identifier: GPL-2.0
#include "address.h"

#include <arpa/inet.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "checked.h"

namespace selftest {

namespace {

constexpr in_addr_t kernel_v4 = 0xc6120001; /* 198.18.0.1 */
constexpr in_addr_t peers_v4 = 0xc6130000;  /* 198.19.0.0 */

in_addr v4(in_addr_t host_order)
{
	return {htonl(host_order)};
}

/* 2001:db8::@high:@low */
in6_addr v6(std::uint32_t high, std::uint32_t low)
{
	in6_addr address{};

	address.s6_addr[0] = 0x20;
	address.s6_addr[1] = 0x01;
	address.s6_addr[2] = 0x0d;
	address.s6_addr[3] = 0xb8;
	address.s6_addr16[6] = htons(static_cast<std::uint16_t>(high));
	address.s6_addr16[7] = htons(static_cast<std::uint16_t>(low));
	return address;
}

in6_addr mapped(in_addr v4_address)
{
	in6_addr address{};

	address.s6_addr16[5] = 0xffff;
	address.s6_addr32[3] = v4_address.s_addr;
	return address;
}

Address make(Family family, in_addr four, in6_addr six, std::uint16_t port)
{
	Address address;

	if (family == Family::v4) {
		sockaddr_in sin{};

		sin.sin_family = AF_INET;
		sin.sin_port = htons(port);
		sin.sin_addr = four;
		address.length = sizeof(sin);
		std::memcpy(&address.storage, &sin, sizeof(sin));
	} else {
		sockaddr_in6 sin6{};

		sin6.sin6_family = AF_INET6;
		sin6.sin6_port = htons(port);
		sin6.sin6_addr = family == Family::v6 ? six : mapped(four);
		address.length = sizeof(sin6);
		std::memcpy(&address.storage, &sin6, sizeof(sin6));
	}
	return address;
}

std::string text(Family family, in_addr four, in6_addr six)
{
	std::array<char, INET6_ADDRSTRLEN> buffer{};

	if (family == Family::v6)
		::inet_ntop(AF_INET6, &six, buffer.data(), buffer.size());
	else
		::inet_ntop(AF_INET, &four, buffer.data(), buffer.size());
	return buffer.data();
}

} // namespace

const char *to_string(Family family)
{
	switch (family) {
	case Family::v4:
		return "IPv4";
	case Family::v6:
		return "IPv6";
	case Family::mapped:
		return "v4-mapped";
	}
	return "?";
}

int domain_of(Family family)
{
	return family == Family::v4 ? AF_INET : AF_INET6;
}

std::uint16_t Address::port() const
{
	/* The port is at the same place in both. */
	static_assert(offsetof(sockaddr_in, sin_port) ==
		      offsetof(sockaddr_in6, sin6_port));
	return ntohs(reinterpret_cast<const sockaddr_in *>(&storage)->sin_port);
}

Address kernel_address(Family family, std::uint16_t port)
{
	return make(family, v4(kernel_v4), v6(0, 1), port);
}

Address peer_address(Family family, std::uint32_t host, std::uint16_t port)
{
	return make(family, v4(peers_v4 + host), v6(1, host), port);
}

Address local_address(int fd)
{
	Address address;

	address.length = sizeof(address.storage);
	check(::getsockname(fd, address.get(), &address.length), "getsockname");
	return address;
}

std::string kernel_ip(Family family)
{
	return text(family, v4(kernel_v4), v6(0, 1));
}

std::string peer_ip(Family family, std::uint32_t host)
{
	return text(family, v4(peers_v4 + host), v6(1, host));
}

} // namespace selftest
