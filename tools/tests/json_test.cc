// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/facts_json.h"

using namespace rxstall;

namespace {

Snapshot full()
{
	Snapshot s;
	s.host = "h";
	s.kernel = "6.12.0";
	s.taken = 1'700'000'000;
	s.boottime = 1234.5;
	s.method = "walk";
	s.listened = 2;
	Socket socket;
	socket.inode = 77;
	socket.cookie = UINT64_MAX;
	socket.netns = 4026531840;
	socket.state = State::close_wait;
	socket.family = Family::ipv6;
	socket.local = {"2001:db8::1", 1};
	socket.peer = {"2001:db8::2", 65535};
	socket.rmem = UINT32_MAX;
	socket.unread = 3;
	socket.out_of_order = Maybe::yes;
	socket.error_queue = Maybe::unknown;
	socket.pool_pages = Maybe::yes;
	socket.pool_unclear = true;
	socket.shares = {{1, 2}};
	socket.age_ms = 5;
	socket.cpu = -1;
	socket.ulp = "tls";
	socket.owners = {{Holder::process, 1, 2, 3, "a\x1b[2Jb", "x.service"}};
	s.sockets = {socket};
	s.pools = {{4, 1, 2, "eth0", "mlx5_core", 9, -1783494730, 4096, 100, true, 0, {}, 0},
		   {{}, 1, 0, "0000:3b:00.0", "ice", 0, 3, {}, 100, false, 1, 64, 2}};
	s.reports = {{ReportSource::event, 7.5, {}, "00000000abc", 21, 60, 64, 2}};
	s.namespaces = {{1, "blue", 44, "sh", true, 2}};
	s.sockstat = {1, 2, 3, 4};
	s.hidden = {1, 2, 3, 4, 5, {{{Holder::in_flight, 9, 9, 5, "sshd", ""}, 3}}};
	s.sockets[0].error = 32;
	s.nics = {{1, "eth0", "mlx5_core", "6.12", "22.1"}};
	s.features = {{"btf", Maybe::no, "x"}};
	s.notes = {"no BTF"};
	return s;
}

std::string error_after(const std::string &from, const std::string &to)
{
	std::string text = dump(to_json(full()), false);
	const size_t at = text.find(from);
	EXPECT_NE(at, std::string::npos) << from;
	text.replace(at, from.size(), to);
	auto parsed = parse_snapshot(text);
	EXPECT_FALSE(parsed) << to;
	return parsed ? "" : parsed.error().text;
}

} // namespace

TEST(Json, RoundTripKeepsEveryFact)
{
	auto back = parse_snapshot(dump(to_json(full()), true));
	ASSERT_TRUE(back) << back.error().text;
	EXPECT_EQ(*back, full());
}

TEST(Json, OutputIsPlainAscii)
{
	Snapshot s = full();
	s.host = "\xff\xc3\xa9\x1b";
	const std::string text = dump(to_json(s), false);
	for (unsigned char c : text)
		ASSERT_TRUE(c >= 0x20 && c < 0x80);
}

TEST(Json, WrongFieldIsNamedByItsPath)
{
	EXPECT_EQ(error_after("\"rmem\":4294967295", "\"rmem\":4294967296"),
		  "snapshot.sockets[0].rmem: number does not fit");
	EXPECT_EQ(error_after("\"sport\":1,", "\"sport\":-1,"),
		  "snapshot.sockets[0].sport: number does not fit");
	EXPECT_EQ(error_after("\"state\":\"close-wait\"", "\"state\":\"dying\""),
		  "snapshot.sockets[0].state: not a known name");
	EXPECT_EQ(error_after("\"family\":6", "\"family\":5"),
		  "snapshot.sockets[0].family: neither 4 nor 6");
	EXPECT_EQ(error_after("\"boottime\":1234.5", "\"boottime\":-1"),
		  "snapshot.boottime: not a number of seconds");
	EXPECT_EQ(error_after("\"inflight\":-1783494730", "\"inflight\":1.5"),
		  "snapshot.pools[0].inflight: not a whole number");
	EXPECT_EQ(error_after("\"host\":\"h\",", ""), "snapshot.host: missing");
	EXPECT_EQ(error_after("\"comm\":\"sh\"", "\"comm\":[]"),
		  "snapshot.namespaces[0].comm: not a string");
	EXPECT_EQ(error_after("\"entered\":true", "\"entered\":1"),
		  "snapshot.namespaces[0].entered: neither true nor false");
	EXPECT_EQ(error_after("\"no BTF\"", "7"), "snapshot.notes: not an array of short strings");
	EXPECT_NE(error_after("\"version\":2", "\"version\":1").find("another format"),
		  std::string::npos);
	EXPECT_EQ(error_after("\"host\":\"h\"", "\"host\":\"" + std::string(5000, 'x') + "\""),
		  "snapshot.host: string too long");
}

TEST(Json, NotASnapshot)
{
	for (const char *text : {"", "{", "[]", "7", "null", "{}", "\xff\xfe"})
		EXPECT_FALSE(parse_snapshot(text)) << text;
	/* deep nesting must not exhaust the stack */
	EXPECT_FALSE(parse_snapshot(std::string(1'000'000, '[')));
}
