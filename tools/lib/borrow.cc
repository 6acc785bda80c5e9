// SPDX-License-Identifier: GPL-2.0
#include "borrow.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "connection_check.h"
#include "diag_parse.h"

extern "C" {
#include <sys/pidfd.h>	/* glibc 2.36 forgot C++ */
}

namespace rxstall {

namespace {

template <class T>
Result<T> option(int fd, int level, int name)
{
	T value{};
	socklen_t length = sizeof(value);
	if (getsockopt(fd, level, name, &value, &length) != 0)
		return failure(errno, "getsockopt");
	return value;
}

Endpoint endpoint(const sockaddr_storage &address)
{
	char text[INET6_ADDRSTRLEN] = "";
	if (address.ss_family == AF_INET6) {
		const auto &in6 = reinterpret_cast<const sockaddr_in6 &>(address);
		inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
		return {text, ntohs(in6.sin6_port)};
	}
	const auto &in = reinterpret_cast<const sockaddr_in &>(address);
	inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
	return {text, ntohs(in.sin_port)};
}

Endpoint local_name(int fd)
{
	sockaddr_storage address{};
	socklen_t length = sizeof(address);
	if (getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) != 0)
		return {};
	return endpoint(address);
}

/*
 * getpeername() answers ENOTCONN for a dead socket; SO_PEERNAME remembers.
 * The kernel wants the exact length of the family's address (sk_getsockopt()).
 */
Endpoint peer_name(int fd, Family family)
{
	sockaddr_storage address{};
	socklen_t length = family == Family::ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &address, &length) != 0)
		return {};
	return endpoint(address);
}

uint32_t netns_of(int fd)
{
	Fd netns(ioctl(fd, SIOCGSKNS));
	struct stat status{};
	if (!netns || fstat(netns.get(), &status) != 0)
		return 0;
	return static_cast<uint32_t>(status.st_ino);
}

/* The error queue raises POLLERR, as a pending error does; only its absence proves something. */
Maybe error_queue_of(int fd)
{
	pollfd entry{fd, 0, 0};
	if (poll(&entry, 1, 0) < 0 || !(entry.revents & POLLERR))
		return Maybe::no;
	const bool timestamps = option<int>(fd, SOL_SOCKET, SO_TIMESTAMPING).value_or(1) != 0;
	const bool zerocopy = option<int>(fd, SOL_SOCKET, SO_ZEROCOPY).value_or(1) != 0;
	return timestamps || zerocopy ? Maybe::unknown : Maybe::no;
}

std::string ulp_of(int fd)
{
	char name[16] = "";
	socklen_t length = sizeof(name);
	if (getsockopt(fd, IPPROTO_TCP, TCP_ULP, name, &length) != 0)
		return {};
	return {name, strnlen(name, length)};
}

} // namespace

Result<Lender> Lender::open(int pid)
{
	Fd pidfd(pidfd_open(pid, 0));
	if (!pidfd)
		return failure(errno, "pidfd_open");
	return Lender(std::move(pidfd));
}

Result<Fd> Lender::borrow(int fd, uint64_t inode) const
{
	Fd duplicate(pidfd_getfd(pidfd_.get(), fd, 0));
	if (!duplicate)
		return failure(errno, "pidfd_getfd");
	struct stat status{};
	if (fstat(duplicate.get(), &status) != 0 || !S_ISSOCK(status.st_mode) ||
	    status.st_ino != inode)
		return failure(ESTALE, "descriptor reused");
	return duplicate;
}

Result<State> read_state(int fd)
{
	const uint8_t state = connection_check::tcp_state(fd);
	if (state == 0)
		return failure(EPROTONOSUPPORT, "not a TCP socket");
	return static_cast<State>(state);
}

Result<Socket> read_socket(int fd, uint64_t inode)
{
	auto state = read_state(fd);
	if (!state)
		return tl::unexpected(state.error());
	auto memory = option<std::array<uint32_t, SK_MEMINFO_VARS>>(fd, SOL_SOCKET, SO_MEMINFO);
	auto domain = option<int>(fd, SOL_SOCKET, SO_DOMAIN);
	auto info = option<tcp_info>(fd, IPPROTO_TCP, TCP_INFO);
	if (!memory || !domain || !info)
		return failure(EOPNOTSUPP, "socket options");

	Socket socket;
	socket.inode = inode;
	socket.state = *state;
	socket.family = *domain == AF_INET6 ? Family::ipv6 : Family::ipv4;
	socket.rmem = (*memory)[SK_MEMINFO_RMEM_ALLOC];
	socket.cookie = option<uint64_t>(fd, SOL_SOCKET, SO_COOKIE).value_or(0);
	socket.netns = netns_of(fd);
	socket.local = local_name(fd);
	socket.peer = peer_name(fd, socket.family);
	socket.cpu = option<int>(fd, SOL_SOCKET, SO_INCOMING_CPU).value_or(-1);
	socket.age_ms = info->tcpi_last_ack_recv;
	socket.ulp = ulp_of(fd);

	socket.unread = connection_check::unread_bytes(fd);
	if (socket.rmem && !socket.unread) {
		if (info->tcpi_rcv_ooopack && !fin_received(*state))
			socket.out_of_order = Maybe::unknown;
		socket.error_queue = error_queue_of(fd);
	}
	return socket;
}

} // namespace rxstall
