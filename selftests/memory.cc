// SPDX-License-Identifier: GPL-2.0
/*
 * What a purge gives back and how it shows: memory of the socket, of all of TCP and
 * of the control group, the reasons that drop monitors see, and the counters of
 * many sockets.
 */
#include <linux/if_ether.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/cpu.h"
#include "lib/ktap.h"
#include "lib/loopback.h"
#include "lib/memcg.h"
#include "lib/scenario.h"
#include "lib/trace.h"

namespace {

using namespace selftest;

constexpr int megabyte = 1 << 20;
constexpr int much = 6 * megabyte;
/*
 * Half of it, in pages: less than that may come and go with what runs beside, and
 * with the megabyte that each CPU keeps to itself before it tells the total
 * (SK_MEMORY_PCPU_RESERVE in include/net/sock.h).
 */
constexpr std::int64_t half_in_pages = much / 2 / 4096;

/** Fills the app's queue with @much bytes. */
void send_much(LoopbackPair &pair)
{
	const int room = 8 * much;
	const std::string block = pattern(0, megabyte / 4);
	int unread = 0;

	check(::setsockopt(pair.app.fd(), SOL_SOCKET, SO_RCVBUFFORCE, &room,
			   sizeof(room)), "SO_RCVBUFFORCE");
	for (int sent = 0; sent < much;) {
		const auto part = std::min<std::size_t>(
			block.size(), static_cast<std::size_t>(much - sent));
		const ssize_t n = ::send(pair.peer.fd(), block.data(), part,
					 MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			fail(errno, "send");
		if (n < 0)
			::usleep(1000);
		else
			sent += static_cast<int>(n);
	}
	for (int tries = 0; unread != much; tries++) {
		expect(tries < 5000, "all of it arrives");
		check(::ioctl(pair.app.fd(), FIONREAD, &unread), "FIONREAD");
		::usleep(1000);
	}
}

/** Whether @holds comes true; where it should, a busy machine has half a minute. */
bool soon(bool should, const std::function<bool()> &holds)
{
	for (int tries = 0; tries < (should ? 300 : 20); tries++) {
		if (holds())
			return true;
		::usleep(100000);
	}
	return false;
}

void total_returns(Purge value)
{
	stay_on_this_cpu();
	set_purge(value);
	const auto before = Sockstat::read().mem;
	auto pair = loopback_pair();

	send_much(pair);
	finish(pair.peer, pair.app);
	expect(Sockstat::read().mem - before > half_in_pages,
	       "sockstat mem counts the queue");
	reset(pair.peer, pair.app);

	const bool back = soon(value == Purge::flush, [before] {
		return Sockstat::read().mem - before < half_in_pages;
	});

	expect_eq(back, value == Purge::flush,
		  "whether sockstat mem is back to where it was");
	expect_eq(pair.app.facts().rmem == 0, value == Purge::flush,
		  "whether nothing is held");
}

void control_group_returns(Purge value)
{
	const MemoryCgroup group;

	stay_on_this_cpu();
	set_purge(value);
	auto pair = loopback_pair();
	const auto before = group.socket_bytes();

	send_much(pair);
	finish(pair.peer, pair.app);
	expect(soon(true, [&] { return group.socket_bytes() - before >= much; }),
	       "memory.stat counts the queue");
	reset(pair.peer, pair.app);
	expect_eq(soon(value == Purge::flush, [&] {
			  return group.socket_bytes() - before <= megabyte / 4;
		  }),
		  value == Purge::flush,
		  "whether memory.stat is back to where it was");
}

/**
 * Whether an interrupt brought it into our process: the third of the flags behind
 * the CPU, "[000] ..s1.", tells (trace_print_lat_fmt()).
 */
bool of_an_interrupt(const TraceEvent &event)
{
	constexpr std::string_view interrupts = "HhsZz";
	const auto flags = event.line.find("] ");

	return flags != std::string::npos && flags + 4 < event.line.size() &&
	       interrupts.find(event.line[flags + 4]) != interrupts.npos;
}

/** What our process has dropped. */
std::vector<TraceEvent> drops(Trace &trace)
{
	std::vector<TraceEvent> found = trace.read();

	std::erase_if(found, of_an_interrupt);
	return found;
}

/** What skb:kfree_skb, which drop monitors follow, shows of the RST. */
void drop_reasons(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);

	send_and_fin(*peer, bytes);
	peer->drain();

	/* TUN processes a packet in the process that writes it. */
	Trace trace({"skb/kfree_skb:protocol == " + std::to_string(ETH_P_IP) +
		     " && common_pid == " + std::to_string(::getpid())},
		    Addresses::hashed);

	peer->send(rst());
	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");

	const auto events = drops(trace);

	if (!bytes || !purges(value, bytes)) {
		expect(events.empty(), "no drop is reported; was: " +
					       (events.empty() ? std::string()
							       : events[0].line));
		return;
	}
	expect(!events.empty(), "the discarded payload is reported");
	for (const TraceEvent &event : events)
		expect(event.line.find("reason: TCP_CLOSE") != std::string::npos,
		       "the reason is TCP_CLOSE: " + event.line);
}

/** Connections of every kind at a time; what is counted, and what is not. */
void counters_of_many(Family family, Purge value)
{
	constexpr int each = 40;
	Wire wire;
	std::vector<Connection> all;
	const Counters before = Counters::read();

	set_purge(value);
	for (int i = 0; i < each; i++)
		for (const Left left : {Left::nothing, Left::fin, Left::payload}) {
			all.push_back(wire.connect(family));
			send_and_fin(*all.back().peer,
				     left == Left::payload ? 20 : 0);
			if (left == Left::nothing)
				expect_eq(to_string(all.back().app.recv(1)), "0",
					  "end of file");
		}
	for (const Connection &connection : all)
		connection.peer->send(rst());

	const int fins = value == Purge::off ? 0 : each;
	const int payloads = value == Purge::flush ? each : 0;
	const Counters after = Counters::read();

	expect_eq(after.since(before, "TcpExtTCPRcvQPurged"), fins + payloads,
		  "TCPRcvQPurged");
	expect_eq(after.since(before, "TcpExtTCPRcvQPurgedUnread"), payloads,
		  "TCPRcvQPurgedUnread");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Purge value : purge_values) {
		const std::string prefix = std::string(to_string(value)) + '/';

		tests.push_back({prefix + "6_megabytes/sockstat",
				 Needs::purge_sysctl,
				 [value] { total_returns(value); },
				 value != Purge::flush, true});
		tests.push_back({prefix + "6_megabytes/control_group",
				 Needs::purge_sysctl,
				 [value] { control_group_returns(value); },
				 value != Purge::flush, true});
		for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}})
			tests.push_back(
				{prefix + "drop_reasons/" +
					 (bytes ? "unread" : "fin_only"),
				 Needs::purge_sysctl,
				 [value, bytes] { drop_reasons(value, bytes); },
				 !purges(value, bytes), true});
		for (const Family family : {Family::v4, Family::v6, Family::mapped})
			tests.push_back(
				{prefix + "counters_of_many/" + to_string(family),
				 Needs::purge_sysctl,
				 [family, value] {
					 counters_of_many(family, value);
				 }});
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
