// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/decide.h"
#include "lib/filter.h"
#include "lib/judge.h"

using namespace rxstall;

namespace {

Socket fin_only()
{
	Socket socket;
	socket.inode = 4711;
	socket.netns = 4026531840;
	socket.state = State::close;
	socket.local = {"10.0.0.2", 51000};
	socket.peer = {"10.0.0.9", 9092};
	socket.rmem = 832;
	socket.age_ms = 90'000;
	socket.owners = {{Holder::process, 812, 812, 31, "java", "broker.service"}};
	return socket;
}

Filter words(const std::vector<std::string> &list)
{
	auto filter = parse_filter({}, list);
	EXPECT_TRUE(filter) << filter.error().text;
	return filter.value_or(Filter{});
}

} // namespace

TEST(Classify, EveryKind)
{
	Socket socket = fin_only();
	EXPECT_EQ(classify(socket), Class::fin_only);

	socket.out_of_order = Maybe::unknown;
	EXPECT_EQ(classify(socket), Class::unclear);
	socket.out_of_order = Maybe::yes;
	EXPECT_EQ(classify(socket), Class::out_of_order);
	socket.out_of_order = Maybe::no;
	socket.error_queue = Maybe::unknown;
	EXPECT_EQ(classify(socket), Class::unclear);
	socket.error_queue = Maybe::yes;
	EXPECT_EQ(classify(socket), Class::error_queue);
	socket.unread = 1;
	EXPECT_EQ(classify(socket), Class::payload);
	socket.rmem = 0;
	EXPECT_EQ(classify(socket), Class::empty);
}

TEST(Judge, OnlyStatesAfterThePeersFinAreOver)
{
	for (State state : {State::close, State::close_wait, State::last_ack, State::closing})
		EXPECT_TRUE(is_over(state)) << name(state);
	for (State state : {State::established, State::fin_wait1, State::fin_wait2,
			    State::listen, State::syn_sent, State::time_wait})
		EXPECT_FALSE(is_over(state)) << name(state);
}

TEST(Filter, EmptySelectsTheDeadWithMemory)
{
	Socket socket = fin_only();
	EXPECT_TRUE(matches({}, socket));

	/* refused connections: CLOSE and empty */
	socket.rmem = 0;
	EXPECT_FALSE(matches({}, socket));

	socket = fin_only();
	socket.state = State::established;
	EXPECT_FALSE(matches({}, socket));
	EXPECT_TRUE(matches(words({"state", "all"}), socket));
}

/* Recv-Q of a listener counts connections; it is not memory. */
TEST(Filter, ListenerIsNeverSelected)
{
	Socket socket = fin_only();
	socket.state = State::listen;
	socket.unread = 3;
	EXPECT_FALSE(matches(words({"state", "all"}), socket));
}

TEST(Filter, WordsOfSs)
{
	const Socket socket = fin_only();
	EXPECT_TRUE(matches(words({"dport", "=", ":9092"}), socket));
	EXPECT_TRUE(matches(words({"dport", "9092", "and", "sport", "!=", ":22"}), socket));
	EXPECT_FALSE(matches(words({"dport", "ne", ":9092"}), socket));
	EXPECT_FALSE(matches(words({"dst", "10.0.0.0/29"}), socket));
	EXPECT_TRUE(matches(words({"dst", "10.0.0.8/29"}), socket));
	EXPECT_TRUE(matches(words({"dst", "10.0.0.9:9092", "src", "=", "10.0.0.2"}), socket));
	EXPECT_FALSE(matches(words({"dst", "[::1]:9092"}), socket));
	EXPECT_TRUE(matches(words({"dst", "0.0.0.0/0"}), socket));
	EXPECT_TRUE(matches(words({"state", "close"}), socket));
	EXPECT_FALSE(matches(words({"state", "close-wait", "state", "last-ack"}), socket));
}

TEST(Filter, Ipv6PrefixEndsInsideAByte)
{
	Socket socket = fin_only();
	socket.family = Family::ipv6;
	socket.peer = {"2001:db8:0:8000::1", 443};
	EXPECT_TRUE(matches(words({"dst", "2001:db8:0:8000::/49"}), socket));
	EXPECT_FALSE(matches(words({"dst", "2001:db8::/49"}), socket));
}

TEST(Filter, WrongWordsAreNamed)
{
	const std::vector<std::vector<std::string>> wrong = {
		{"state"}, {"state", "dying"}, {"dport"}, {"dport", "="}, {"dport", ":65536"},
		{"sport", "-1"}, {"dst", "example.org"}, {"dst", "10.0.0.0/33"}, {"dst", "[::1"},
		{"dst", "!=", "10.0.0.1"}, {"nonsense"}, {"dst", "::/129"},
	};
	for (const auto &list : wrong) {
		auto filter = parse_filter({}, list);
		ASSERT_FALSE(filter) << list.front();
		EXPECT_FALSE(filter.error().text.empty());
	}
}

TEST(Filter, AgeUnknownIsYoung)
{
	Filter filter;
	filter.min_age_ms = 60'000;
	Socket socket = fin_only();
	EXPECT_TRUE(matches(filter, socket));
	socket.age_ms = 59'999;
	EXPECT_FALSE(matches(filter, socket));
	socket.age_ms.reset();
	EXPECT_FALSE(matches(filter, socket));
}

TEST(Group, NineHundredSocketsOfOneProcessAreOneLine)
{
	std::vector<Socket> sockets(900, fin_only());
	for (size_t i = 0; i < sockets.size(); i++)
		sockets[i].local.port = static_cast<uint16_t>(20000 + i);
	sockets.back().age_ms = 200'000;

	auto groups = group(sockets, {GroupKey::process, GroupKey::dport});
	ASSERT_EQ(groups.size(), 1u);
	EXPECT_EQ(groups[0].keys, (std::vector<std::string>{"java[812]", "9092"}));
	EXPECT_EQ(groups[0].sums.sockets, 900u);
	EXPECT_EQ(groups[0].sums.rmem, 900u * 832);
	EXPECT_EQ(groups[0].oldest_ms, 200'000u);
	EXPECT_EQ(group(sockets, {GroupKey::sport}).size(), 900u);
}

TEST(Judge, OwnerlessNeverGoesBelowZero)
{
	SockStat stat;
	stat.alloc = 10;
	stat.inuse = 4;
	stat.closed_seen = 3;
	EXPECT_EQ(ownerless(stat), 3u);
	stat.inuse = 40;
	EXPECT_EQ(ownerless(stat), 0u);
}

TEST(Decide, FinOnlyIsReceivedDeadOrHalfClosed)
{
	Socket socket = fin_only();
	EXPECT_EQ(decide(socket, {}, 99).action, Action::receive);
	socket.state = State::close_wait;
	EXPECT_EQ(decide(socket, {}, 99).action, Action::receive);
}

TEST(Decide, LiveConnectionsAreLeftWhateverIsPermitted)
{
	Socket socket = fin_only();
	for (State state : {State::established, State::fin_wait1, State::fin_wait2, State::syn_sent}) {
		socket.state = state;
		EXPECT_EQ(decide(socket, {true, true}, 99).action, Action::leave) << name(state);
	}
}

TEST(Decide, PayloadNeedsItsOption)
{
	Socket socket = fin_only();
	socket.unread = 107;
	EXPECT_EQ(decide(socket, {}, 99).action, Action::leave);
	EXPECT_NE(decide(socket, {}, 99).text.find("--discard-unread"), std::string::npos);
	EXPECT_EQ(decide(socket, {false, true}, 99).action, Action::leave);
	EXPECT_EQ(decide(socket, {true, false}, 99).action, Action::discard);
}

TEST(Decide, ResetOnlyWithItsOptionAndOnlyInClose)
{
	for (auto queue : {&Socket::out_of_order, &Socket::error_queue}) {
		for (Maybe maybe : {Maybe::yes, Maybe::unknown}) {
			Socket socket = fin_only();
			socket.*queue = maybe;
			EXPECT_EQ(decide(socket, {true, false}, 99).action, Action::leave);
			EXPECT_EQ(decide(socket, {false, true}, 99).action, Action::reset);
			socket.state = State::close_wait;
			EXPECT_EQ(decide(socket, {true, true}, 99).action, Action::leave);
		}
	}
}

TEST(Decide, ProtectedOwners)
{
	Socket socket = fin_only();
	EXPECT_EQ(decide(socket, {}, 812).action, Action::leave);
	/* also when PID 1 merely shares the socket */
	socket.owners.push_back({Holder::process, 1, 1, 9, "init", ""});
	EXPECT_EQ(decide(socket, {}, 99).action, Action::leave);

	socket = fin_only();
	socket.ulp = "tls";
	EXPECT_EQ(decide(socket, {true, true}, 99).action, Action::leave);

	socket = fin_only();
	socket.owners = {{Holder::unaccepted, 812, 812, 3, "java", ""}};
	EXPECT_EQ(decide(socket, {}, 99).action, Action::leave);
	socket.owners.clear();
	EXPECT_EQ(decide(socket, {}, 99).action, Action::leave);
}
