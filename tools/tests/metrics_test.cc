// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/limits.h"
#include "lib/metrics.h"

using namespace rxstall;

namespace {

Socket dead(State state, uint32_t rmem, uint32_t unread, int pid)
{
	Socket socket;
	socket.state = state;
	socket.rmem = rmem;
	socket.unread = unread;
	socket.age_ms = 90'500;
	socket.pool_pages = Maybe::yes;
	socket.owners = {{Holder::process, pid, pid, 7, "evil\"\n} 1", "x.service"}};
	return socket;
}

Pool pool(uint64_t id, int64_t inflight, std::optional<uint64_t> memory, std::optional<uint64_t> detached)
{
	Pool pool;
	pool.id = id;
	pool.inflight = inflight;
	pool.inflight_mem = memory;
	pool.detached_at = detached;
	return pool;
}

/* The value on the line that begins so; "" if there is none. */
std::string value(const std::string &text, const std::string &series)
{
	const size_t at = ("\n" + text).find("\n" + series + " ");
	if (at == std::string::npos)
		return "";
	const size_t begin = at + series.size() + 1;
	return text.substr(begin, text.find('\n', begin) - begin);
}

std::string cell(const std::string &family, const std::string &state, const std::string &cls)
{
	return family + "{state=\"" + state + "\",class=\"" + cls + "\"}";
}

size_t series_of(const std::string &text)
{
	size_t count = 0, at = 0;
	for (size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
		count += text[at] != '#';
	return count;
}

} // namespace

TEST(Metrics, DeadSocketsByStateAndClass)
{
	MetricsInput input;
	input.snapshot.sockets = {dead(State::close, 832, 0, 1), dead(State::close, 832, 0, 1),
				  dead(State::close_wait, 852, 20, 1), dead(State::established, 852, 20, 1)};
	const std::string text = metrics_text(input);
	EXPECT_EQ(value(text, cell("rxstall_dead_sockets", "close", "fin-only")), "2");
	EXPECT_EQ(value(text, cell("rxstall_dead_sockets", "close-wait", "payload")), "1");
	EXPECT_EQ(value(text, cell("rxstall_dead_sockets", "last-ack", "out-of-order")), "0");
	EXPECT_EQ(value(text, cell("rxstall_dead_socket_receive_bytes", "close", "fin-only")), "1664");
	EXPECT_EQ(value(text, "rxstall_dead_socket_unread_bytes"), "20");
	EXPECT_EQ(value(text, "rxstall_dead_sockets_in_pool_memory"), "3");
	EXPECT_EQ(value(text, "rxstall_dead_socket_oldest_seconds{class=\"fin-only\"}"), "90.5");
}

TEST(Metrics, TheWorstProcessAgainstItsLimit)
{
	MetricsInput input;
	input.snapshot.sockets = {dead(State::close, 832, 0, 1), dead(State::close_wait, 832, 0, 2),
				  dead(State::close_wait, 832, 0, 2)};
	EXPECT_EQ(value(metrics_text(input), "rxstall_process_dead_descriptors_ratio"), "0");
	input.descriptor_limits = {{1, 2}, {2, 8}, {3, 0}};
	const std::string text = metrics_text(input);
	EXPECT_EQ(value(text, "rxstall_process_dead_descriptors_ratio"), "0.5");
	EXPECT_EQ(value(text, "rxstall_process_dead_sockets_max"), "2");
}

TEST(Metrics, NegativePoolsAreCountedAndNeverSummed)
{
	MetricsInput input;
	input.snapshot.boottime = 1000;
	input.snapshot.pools = {pool(1, 21, 8192, 100), pool(2, -1783494730, 1, 900), pool(3, 7, 1, {})};
	PoolReport report;
	report.source = ReportSource::event;
	report.at = 999;
	report.address = "00000000abc";
	report.inflight = 2;
	input.snapshot.reports = {report};
	const std::string text = metrics_text(input);
	EXPECT_EQ(value(text, "rxstall_stalled_pools{seen=\"netlink\"}"), "2");
	EXPECT_EQ(value(text, "rxstall_stalled_pools{seen=\"events\"}"), "1");
	EXPECT_EQ(value(text, "rxstall_stalled_pool_inflight_pages"), "23");
	EXPECT_EQ(value(text, "rxstall_stalled_pool_inflight_bytes"), std::to_string(8192 + 2 * 4096));
	EXPECT_EQ(value(text, "rxstall_stalled_pool_oldest_seconds"), "900");
	EXPECT_EQ(value(text, "rxstall_stalled_pools_negative"), "1");
}

TEST(Metrics, NamespacesByValue)
{
	MetricsInput input;
	Netns netns;
	netns.entered = true;
	input.snapshot.namespaces = {netns, netns};
	netns.purge = 2;
	input.snapshot.namespaces.push_back(netns);
	netns.purge = 77;
	input.snapshot.namespaces.push_back(netns);
	netns.entered = false;
	input.snapshot.namespaces.push_back(netns);
	const std::string text = metrics_text(input);
	EXPECT_EQ(value(text, "rxstall_namespaces{purge=\"absent\"}"), "2");
	EXPECT_EQ(value(text, "rxstall_namespaces{purge=\"2\"}"), "1");
	EXPECT_EQ(value(text, "rxstall_namespaces{purge=\"unknown\"}"), "2");
	EXPECT_EQ(text.find("77"), std::string::npos);
}

TEST(Metrics, NothingOnTheHostAddsASeries)
{
	MetricsInput many;
	for (int pid = 1; pid < 200; pid++) {
		many.snapshot.sockets.push_back(dead(State::close, 832, 0, pid));
		many.snapshot.pools.push_back(pool(static_cast<uint64_t>(pid), 1, 1, 1));
		Netns netns;
		netns.entered = true;
		netns.purge = pid;
		many.snapshot.namespaces.push_back(netns);
		many.snapshot.notes.push_back("note " + std::to_string(pid));
	}
	many.guard = GuardState{"release", 9, 1, 2, 3, 4, 5};
	const std::string text = metrics_text(many);
	EXPECT_EQ(series_of(text), series_of(metrics_text({})));
	EXPECT_EQ(text.find("evil"), std::string::npos);
	EXPECT_EQ(value(text, "rxstall_scan_errors"), "199");
	EXPECT_EQ(value(text, "rxstall_guard_running"), "1");
	EXPECT_EQ(value(text, "rxstall_guard_released_bytes_total"), "3");
}

TEST(Metrics, NoTimestamps)
{
	MetricsInput input;
	input.snapshot.taken = 1'700'000'000;
	const std::string text = metrics_text(input);
	EXPECT_EQ(value(text, "rxstall_scan_timestamp_seconds"), "1700000000");
	size_t at = 0;
	for (size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
		const std::string line = text.substr(at, end - at);
		const size_t blanks = static_cast<size_t>(std::count(line.begin(), line.end(), ' '));
		EXPECT_TRUE(line.starts_with("# ") || blanks == 1) << line;
	}
}

TEST(GuardState, ThereAndBack)
{
	const GuardState state{"release", 4711, 1, UINT64_MAX, 3, 4, 5};
	auto back = parse_guard_state(dump_guard_state(state));
	ASSERT_TRUE(back) << back.error().text;
	EXPECT_EQ(*back, state);
}

TEST(GuardState, WrongTextIsRefused)
{
	const std::string good = dump_guard_state({"release", 1, 1, 2, 3, 4, 5});
	EXPECT_TRUE(parse_guard_state(good));
	for (const char *text : {"", "[]", "7", "{}", "{\"mode\":1,\"pid\":1}", "\xff"})
		EXPECT_FALSE(parse_guard_state(text)) << text;
	for (const char *field : {"\"pid\":1", "\"scans\":1", "\"failed\":4"}) {
		std::string bad = good;
		bad.replace(bad.find(field), std::string(field).size(), "\"pid\":-1");
		EXPECT_FALSE(parse_guard_state(bad)) << bad;
	}
}

TEST(Limits, OpenFiles)
{
	const std::string text =
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max processes             96293                96293                processes \n"
		"Max open files            1024                 1048576              files     \n";
	EXPECT_EQ(parse_open_files(text), 1024u);
	EXPECT_FALSE(parse_open_files("Max open files            unlimited            unlimited            files"));
	for (const char *wrong : {"", "Max open files", "Max open files -1", "open files 7"})
		EXPECT_FALSE(parse_open_files(wrong)) << wrong;
}
