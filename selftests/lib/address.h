// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses of the test network. The kernel under test has the first
 * address of each family on its TUN device; every other address of the prefix
 * is the hand-built peer's, so that its "hosts" are simply numbers.
 *
 *	198.18.0.1/15 (RFC 2544)	peers 198.19.0.0 + host
 *	2001:db8::1/64 (RFC 3849)	peers 2001:db8::1:0 + host
 */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace selftest {

/** How the socket under test speaks: mapped is IPv4 through AF_INET6. */
enum class Family { v4, v6, mapped };

/** "IPv4", "IPv6", "v4-mapped". */
const char *to_string(Family family);

/** AF_INET or AF_INET6, as socket() takes it. */
int domain_of(Family family);

/** A socket address with its length, as bind() and connect() take it. */
struct Address {
	sockaddr_storage storage{};
	socklen_t length = 0;

	[[nodiscard]] const sockaddr *get() const
	{
		return reinterpret_cast<const sockaddr *>(&storage);
	}
	[[nodiscard]] sockaddr *get()
	{
		return reinterpret_cast<sockaddr *>(&storage);
	}
	/** In host byte order. */
	[[nodiscard]] std::uint16_t port() const;
};

/** The number of hosts peer_address() tells apart. */
inline constexpr std::uint32_t peer_hosts = 65536;

/** The kernel's own address, as a socket of @family binds to it. */
Address kernel_address(Family family, std::uint16_t port);

/** Peer @host (0 to 65535), as a socket of @family connects to it. */
Address peer_address(Family family, std::uint32_t host, std::uint16_t port);

/** getsockname() of @fd. */
Address local_address(int fd);

/** The addresses without a port, as text: on the wire mapped is IPv4. */
std::string kernel_ip(Family family);
std::string peer_ip(Family family, std::uint32_t host);

} // namespace selftest
