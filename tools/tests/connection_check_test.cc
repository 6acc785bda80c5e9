// SPDX-License-Identifier: GPL-2.0
/* Over loopback: what the check says, and that the connection does not notice. */
#include "lib/connection_check.h"

#include <arpa/inet.h>
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "lib/fd.h"

using connection_check::check;
using connection_check::Verdict;
using rxstall::Fd;

namespace {

/* Both ends of a connection. */
struct Pair {
	Fd ours, peer;

	Pair()
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t length = sizeof(address);
		auto *generic = reinterpret_cast<sockaddr *>(&address);
		Fd listener(socket(AF_INET, SOCK_STREAM, 0));
		peer = Fd(socket(AF_INET, SOCK_STREAM, 0));
		EXPECT_EQ(bind(listener.get(), generic, length), 0);
		EXPECT_EQ(listen(listener.get(), 1), 0);
		EXPECT_EQ(getsockname(listener.get(), generic, &length), 0);
		EXPECT_EQ(connect(peer.get(), generic, length), 0);
		ours = Fd(accept(listener.get(), nullptr, nullptr));
	}

	void send(size_t bytes) const
	{
		const std::string text(bytes, 'x');
		EXPECT_EQ(::send(peer.get(), text.data(), bytes, 0), static_cast<ssize_t>(bytes));
	}
	void fin() const { EXPECT_EQ(shutdown(peer.get(), SHUT_WR), 0); }
	void rst()
	{
		const linger now{1, 0};
		setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		peer = Fd();
	}
	Verdict verdict() const { return check(ours.get()).verdict; }
	uint32_t unread() const { return check(ours.get()).unread; }
	int error() const
	{
		int error = 0;
		socklen_t length = sizeof(error);
		EXPECT_EQ(getsockopt(ours.get(), SOL_SOCKET, SO_ERROR, &error, &length), 0);
		return error;
	}
};

} // namespace

TEST(ConnectionCheck, AnIdleConnectionIsUsable)
{
	const Pair pair;
	EXPECT_EQ(pair.verdict(), Verdict::usable);
	EXPECT_EQ(pair.unread(), 0u);
}

TEST(ConnectionCheck, UnreadDataIsSeenAndStays)
{
	Pair pair;
	pair.send(20);
	EXPECT_EQ(pair.verdict(), Verdict::unread);
	EXPECT_EQ(pair.unread(), 20u);
	pair.fin();
	EXPECT_EQ(pair.verdict(), Verdict::peer_closed);
	pair.rst();
	EXPECT_EQ(pair.verdict(), Verdict::reset);
	EXPECT_EQ(pair.unread(), 20u);
	char buffer[64];
	EXPECT_EQ(recv(pair.ours.get(), buffer, sizeof(buffer), 0), 20);
	EXPECT_EQ(recv(pair.ours.get(), buffer, sizeof(buffer), 0), 0);
}

TEST(ConnectionCheck, TheFinIsNoPayload)
{
	Pair pair;
	pair.fin();
	EXPECT_EQ(pair.verdict(), Verdict::peer_closed);
	EXPECT_EQ(pair.unread(), 0u);
}

TEST(ConnectionCheck, TheOwnerStillGetsItsError)
{
	for (const bool fin : {true, false}) {
		Pair pair;
		if (fin)
			pair.fin();
		pair.rst();
		for (int i = 0; i < 3; i++)
			EXPECT_EQ(pair.verdict(), Verdict::reset);
		EXPECT_EQ(pair.error(), fin ? EPIPE : ECONNRESET);
		EXPECT_EQ(pair.verdict(), Verdict::over) << "now the error has been taken";
	}
}

TEST(ConnectionCheck, OurOwnShutdowns)
{
	Pair pair;
	shutdown(pair.ours.get(), SHUT_WR);
	EXPECT_EQ(pair.verdict(), Verdict::not_connected);
	pair.fin();
	EXPECT_EQ(pair.verdict(), Verdict::over);
	const Pair other;
	shutdown(other.ours.get(), SHUT_RD);
	EXPECT_EQ(other.verdict(), Verdict::peer_closed);
}

TEST(ConnectionCheck, WhatIsNoConnection)
{
	const Fd fresh(socket(AF_INET, SOCK_STREAM, 0)), udp(socket(AF_INET, SOCK_DGRAM, 0));
	EXPECT_EQ(check(fresh.get()).verdict, Verdict::over);
	EXPECT_EQ(listen(fresh.get(), 1), 0);
	EXPECT_EQ(check(fresh.get()).verdict, Verdict::not_connected);
	EXPECT_EQ(check(udp.get()).verdict, Verdict::not_tcp);
	EXPECT_EQ(check(-1).verdict, Verdict::not_tcp);
	EXPECT_EQ(check(1 << 20).verdict, Verdict::not_tcp);
}

/* Every byte arrives, whoever looks meanwhile. */
TEST(ConnectionCheck, AnyThreadMayLookWhileAnotherReads)
{
	Pair pair;
	std::atomic<bool> ended = false;
	std::vector<std::thread> lookers;
	for (int i = 0; i < 4; i++)
		lookers.emplace_back([&] {
			while (!ended) {
				const Verdict verdict = pair.verdict();
				ASSERT_TRUE(verdict == Verdict::usable || verdict == Verdict::unread ||
					    verdict == Verdict::peer_closed);
			}
		});
	std::thread writer([&] {
		for (int i = 0; i < 1000; i++)
			pair.send(100);
		pair.fin();
	});
	size_t bytes = 0;
	char buffer[512];
	for (ssize_t length; (length = recv(pair.ours.get(), buffer, sizeof(buffer), 0)) > 0;)
		bytes += static_cast<size_t>(length);
	ended = true;
	writer.join();
	for (std::thread &thread : lookers)
		thread.join();
	EXPECT_EQ(bytes, 100'000u);
}
