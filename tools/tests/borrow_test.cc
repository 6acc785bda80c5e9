// SPDX-License-Identifier: GPL-2.0
/* Through borrowed descriptors of this process itself, over loopback. */
#include <arpa/inet.h>
#include <cerrno>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/borrow.h"
#include "lib/fd.h"
#include "lib/free.h"
#include "lib/judge.h"

using namespace rxstall;

namespace {

uint64_t inode_of(const Fd &fd)
{
	struct stat status{};
	EXPECT_EQ(fstat(fd.get(), &status), 0);
	return status.st_ino;
}

int pending_error(const Fd &fd)
{
	int error = 0;
	socklen_t length = sizeof(error);
	EXPECT_EQ(getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length), 0);
	return error;
}

/* Our end of a connection whose peer sent that many bytes, FIN, then RST. */
struct Dead {
	Fd fd;
	uint16_t peer_port = 0;

	Dead(int family, size_t bytes)
	{
		sockaddr_storage address{};
		socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
		address.ss_family = static_cast<sa_family_t>(family);
		auto *generic = reinterpret_cast<sockaddr *>(&address);
		if (family == AF_INET6)
			reinterpret_cast<sockaddr_in6 *>(&address)->sin6_addr = in6addr_loopback;
		else
			reinterpret_cast<sockaddr_in *>(&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);

		Fd listener(socket(family, SOCK_STREAM, 0));
		Fd peer(socket(family, SOCK_STREAM, 0));
		EXPECT_EQ(bind(listener.get(), generic, length), 0);
		EXPECT_EQ(listen(listener.get(), 1), 0);
		EXPECT_EQ(getsockname(listener.get(), generic, &length), 0);
		EXPECT_EQ(connect(peer.get(), generic, length), 0);
		fd = Fd(accept(listener.get(), nullptr, nullptr));

		EXPECT_EQ(getsockname(peer.get(), generic, &length), 0);
		peer_port = ntohs(reinterpret_cast<sockaddr_in *>(&address)->sin_port);
		const std::string payload(bytes, 'x');
		EXPECT_EQ(bytes ? send(peer.get(), payload.data(), bytes, 0) : 0,
			  static_cast<ssize_t>(bytes));
		const linger now{1, 0};
		shutdown(peer.get(), SHUT_WR);
		setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	}
};

Lender self()
{
	auto lender = Lender::open(getpid());
	EXPECT_TRUE(lender);
	return std::move(*lender);
}

} // namespace

TEST(Borrow, AReusedDescriptorIsRefused)
{
	Fd first(socket(AF_INET, SOCK_STREAM, 0));
	Fd second(socket(AF_INET, SOCK_STREAM, 0));
	const uint64_t inode = inode_of(first);
	const Lender lender = self();
	EXPECT_TRUE(lender.borrow(first.get(), inode));

	/* between readdir() and borrowing the owner closed it and opened another */
	ASSERT_GE(dup2(second.get(), first.get()), 0);
	auto borrowed = lender.borrow(first.get(), inode);
	ASSERT_FALSE(borrowed);
	EXPECT_EQ(borrowed.error().code, ESTALE);
	EXPECT_EQ(lender.borrow(1 << 20, inode).error().code, EBADF);
}

TEST(Borrow, ADeadSocketKeepsItsNamesAndItsError)
{
	for (int family : {AF_INET, AF_INET6}) {
		const Dead dead(family, 20);
		auto socket = read_socket(dead.fd.get(), inode_of(dead.fd));
		ASSERT_TRUE(socket);
		EXPECT_EQ(socket->state, State::close);
		EXPECT_EQ(socket->peer.port, dead.peer_port) << "getpeername() no longer knows";
		EXPECT_EQ(socket->peer.address, family == AF_INET ? "127.0.0.1" : "::1");
		EXPECT_EQ(socket->unread, 20u);
		EXPECT_EQ(classify(*socket), Class::payload);
		EXPECT_EQ(pending_error(dead.fd), EPIPE) << "looking must not take the error away";
	}
}

TEST(Borrow, NotTcp)
{
	Fd udp(socket(AF_INET, SOCK_DGRAM, 0));
	EXPECT_EQ(read_state(udp.get()).error().code, EPROTONOSUPPORT);
	EXPECT_EQ(read_socket(udp.get(), 1).error().code, EPROTONOSUPPORT);
}

/* Identity comes first, then who owns it: our own descriptors are never acted upon. */
TEST(Free, OurOwnSocketsAndStrangersAreLeft)
{
	const Dead dead(AF_INET, 0);
	Socket planned = *read_socket(dead.fd.get(), inode_of(dead.fd));
	EXPECT_EQ(classify(planned), Class::fin_only);
	planned.owners = {{Holder::process, getpid(), getpid(), dead.fd.get(), "me", ""}};
	Freed freed = free_socket(planned, {});
	EXPECT_EQ(freed.action, Action::leave);
	EXPECT_EQ(freed.text, "our own");

	planned.cookie++;
	EXPECT_NE(free_socket(planned, {}).text.find("another socket"), std::string::npos);
	planned.inode++;
	EXPECT_NE(free_socket(planned, {}).text.find("gone"), std::string::npos);
	EXPECT_EQ(pending_error(dead.fd), EPIPE);
}
