// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/render.h"
#include "lib/table.h"
#include "lib/text.h"

using namespace rxstall;

TEST(Text, ForeignBytesNeverReachATerminalRaw)
{
	EXPECT_EQ(escape("java"), "java");
	EXPECT_EQ(escape("a\x1b[2J\n\\"), "a\\x1b[2J\\x0a\\\\");
	EXPECT_EQ(escape("\xc2\x9b\x7f"), "\\xc2\\x9b\\x7f");
	EXPECT_EQ(escape(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, Spans)
{
	EXPECT_EQ(human_span(999), "999ms");
	EXPECT_EQ(human_span(59'999), "59s");
	EXPECT_EQ(human_span(250'000), "4m10s");
	EXPECT_EQ(human_span(591'248'000), "6d20h");

	EXPECT_EQ(parse_span("90"), 90'000u);
	EXPECT_EQ(parse_span("250ms"), 250u);
	EXPECT_EQ(parse_span("2d"), 172'800'000u);
	for (const char *wrong : {"", "s", "-1s", "1x", "1.5s", "18446744073709551615d", "1 s"})
		EXPECT_FALSE(parse_span(wrong)) << wrong;
}

TEST(Text, Bytes)
{
	EXPECT_EQ(human_bytes(832), "832");
	EXPECT_EQ(human_bytes(1024), "1.0K");
	EXPECT_EQ(human_bytes(748'800), "731K");
	EXPECT_EQ(human_bytes(UINT64_MAX), "16.0E");
}

TEST(Table, CellsAreEscapedAndCutToTheTerminal)
{
	Table table({{"A"}, {"N", Align::right}, {"LAST"}});
	table.add({"x\x1b[31m", "7", "tail"});
	EXPECT_EQ(table.text({}), "A         N LAST\nx\\x1b[31m 7 tail\n");

	Style narrow;
	narrow.width = 12;
	narrow.header = false;
	EXPECT_EQ(table.text(narrow), "x\\x1b[31m 7+\n");
	EXPECT_THROW(table.add({"too few"}), std::logic_error);
}

TEST(Render, SocketsAndSums)
{
	Snapshot s;
	Socket socket;
	socket.netns = 7;
	socket.local = {"10.0.0.2", 51000};
	socket.peer = {"10.0.0.9", 9092};
	socket.rmem = 832;
	socket.age_ms = 3'020'000;
	socket.owners = {{Holder::process, 812, 812, 31, "ja\nva", ""},
			 {Holder::process, 813, 813, 31, "java", ""}};
	s.sockets = {socket};
	s.namespaces = {{7, "blue", 0, "", true, {}}};
	s.sockstat.alloc = 2;
	s.hidden.refused = 1;
	EXPECT_EQ(sockets_table(s, false, {}),
		  "STATE CLASS    RMEM UNREAD PAGES    AGE LOCAL          PEER          NETNS PROCESS\n"
		  "close fin-only  832      0     - 50m20s 10.0.0.2:51000 10.0.0.9:9092 blue  "
		  "ja\\x0ava[812] fd 31 +1\n"
		  "1 socket with 832 of receive memory, 0 unread\n"
		  "2 closed TCP sockets without a visible owner (sockstat; new sockets count too)\n"
		  "1 process refused to be looked at\n");
}
