// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/follow.h"
#include "lib/verdict.h"

using namespace rxstall;

namespace {

PoolReport event(double at, int64_t inflight, uint64_t count)
{
	return {ReportSource::event, at, {}, "0abc", inflight, count, 64, 0};
}

Socket dead(uint64_t inode, uint16_t port)
{
	Socket socket;
	socket.inode = inode;
	socket.local = {"10.0.0.2", port};
	socket.peer = {"10.0.0.9", 9092};
	socket.rmem = 832;
	socket.owners = {{Holder::process, 812, 812, 3, "java", ""}};
	return socket;
}

StateChange end_of(const Socket &socket)
{
	return {socket.family, socket.local, socket.peer, State::close_wait, State::close};
}

} // namespace

TEST(PoolFollower, StallChangeRelease)
{
	PoolFollower follower;
	EXPECT_FALSE(follower.see(event(100, 21, 1))) << "back within a second is the rule";
	auto line = follower.see(event(101, 21, 2));
	ASSERT_TRUE(line);
	EXPECT_EQ(line->news, PoolNews::stalled);
	EXPECT_FALSE(follower.see(event(102, 21, 3)));
	line = follower.see(event(103, 20, 4));
	ASSERT_TRUE(line);
	EXPECT_EQ(line->news, PoolNews::changed);
	EXPECT_EQ(line->before, 21);
	line = follower.see(event(182, 0, 83));
	ASSERT_TRUE(line);
	EXPECT_EQ(line->news, PoolNews::released);
	EXPECT_EQ(line->stalled_s, 83u);
	EXPECT_FALSE(follower.see(event(183, 0, 1)));
}

TEST(PoolFollower, PromptReleaseSaysNothing)
{
	PoolFollower follower;
	EXPECT_FALSE(follower.see(event(100, 0, 1)));
	EXPECT_FALSE(follower.see(event(100, 3, 1)));
	EXPECT_FALSE(follower.see(event(101, 0, 2)));
}

TEST(PoolFollower, BegunBeforeWeLooked)
{
	PoolFollower follower;
	auto line = follower.see(event(1000, 21, 600));
	ASSERT_TRUE(line);
	EXPECT_EQ(line->stalled_s, 600u);
	EXPECT_EQ(follower.see(event(1005, 0, 605))->stalled_s, 605u);
}

TEST(SocketFollower, EachDeathOnce)
{
	SocketFollower follower;
	const Socket first = dead(1, 1000), second = dead(2, 2000);
	follower.see(end_of(first));
	EXPECT_TRUE(follower.pending());
	EXPECT_EQ(follower.take({first, second}), std::vector<Socket>{first});
	EXPECT_FALSE(follower.pending());

	follower.see(end_of(first));
	EXPECT_TRUE(follower.take({first, second}).empty()) << "told already";

	/* closed, and its inode number is used again */
	EXPECT_TRUE(follower.take({}).empty());
	follower.see(end_of(first));
	EXPECT_EQ(follower.take({first}).size(), 1u);
}

TEST(SocketFollower, LiveAndEmptySocketsAreNoNews)
{
	SocketFollower follower;
	Socket socket = dead(1, 1000);
	follower.see(end_of(socket));
	socket.rmem = 0;
	EXPECT_TRUE(follower.take({socket}).empty());
	socket.rmem = 832;
	socket.state = State::close_wait;
	follower.see(end_of(socket));
	EXPECT_TRUE(follower.take({socket}).empty());
}

TEST(Verdict, ThreeLines)
{
	Snapshot s;
	s.namespaces = {{1, "", 1, "init", true, {}}};
	auto lines = verdict(s);
	EXPECT_EQ(lines[0].find("Nothing is held"), 0u);
	EXPECT_NE(lines[1].find("cannot free"), std::string::npos);
	EXPECT_EQ(lines[2], "Next: nothing to do.");

	s.sockets = {dead(1, 1000)};
	EXPECT_EQ(verdict(s)[0], "1 dead socket with 832 of receive memory.");
	EXPECT_NE(verdict(s)[2].find("rxstall release"), std::string::npos);

	s.sockets[0].unread = 7;
	EXPECT_NE(verdict(s)[2].find("--discard-unread"), std::string::npos);

	s.sockets.clear();
	s.namespaces[0].purge = 0;
	EXPECT_NE(verdict(s)[2].find("rxstall sysctl 2"), std::string::npos);
	s.namespaces[0].purge = 2;
	EXPECT_EQ(verdict(s)[1], "tcp_purge_receive_queue is on in 1 of 1 network namespace.");
	EXPECT_EQ(verdict(s)[2], "Next: nothing to do.");
}
