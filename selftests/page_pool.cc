// SPDX-License-Identifier: GPL-2.0
/*
 * Page pools that cannot be freed: whether the purge lets go of their pages, what
 * page_pool:page_pool_release_stalled reports, and what the kernel log says. The
 * slow ones wait for the event's interval of 60 seconds and run beside the others.
 */
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "lib/checked.h"
#include "lib/cpu.h"
#include "lib/kmsg.h"
#include "lib/ktap.h"
#include "lib/netdevsim.h"
#include "lib/scenario.h"
#include "lib/stall.h"
#include "lib/trace.h"
#include "lib/veth.h"

namespace {

using namespace selftest;
constexpr std::size_t payload = 3000;
/* Where the pool is not freed, a test waits all its patience for that. */
constexpr int pool_timeout_s = 200;

void purge_frees_the_pool(Purge value, std::size_t bytes)
{
	Trace trace({release_event});
	Stall stall(value, {bytes, true});
	const bool freed =
		freed_within(trace, stall.pool.name,
			     purges(value, bytes) ? patience : prompt);

	expect_eq(freed, purges(value, bytes), "whether the pool was freed");
	if (freed)
		return;
	stall.socket.reset();
	expect(freed_within(trace, stall.pool.name, patience),
	       "the pool is freed once the socket is closed");
}

/** Without a RST nothing is purged, whatever the value. */
void fin_alone_holds(Purge value)
{
	Trace trace({release_event});
	Stall stall(value, {0, false});

	expect(!freed_within(trace, stall.pool.name, prompt), "the pool is held");
}

/**
 * The RST comes on another CPU than the FIN. What is freed there must not wait
 * for the FIN's CPU, which has nothing to do (skb_attempt_defer_free()).
 */
void rst_on_another_cpu(Purge value)
{
	const Netns peer = Netns::create();
	const Netns receiver = Netns::create();
	const int other = another_cpu();
	Trace trace({release_event});

	stay_on_this_cpu();
	VethLink link(peer, receiver);

	{
		const auto inside = receiver.enter();

		set_purge(value);
	}
	const unique_fd socket =
		abandoned_connection(link, peer, receiver, {0, false});

	stay_on_cpu(other);
	/* The peer has closed its socket: it answers with a RST. */
	check(::send(socket.get(), "x", 1, MSG_NOSIGNAL), "send");
	wait_for_state(socket.get(), CLOSE);
	expect(freed_within(trace, destroy_pool(link).name, prompt),
	       "the pool is freed");
}

void event_has_its_fields()
{
	const std::string format =
		Trace::format("page_pool", "page_pool_release_stalled");

	const auto has = [&format](const char *field) {
		return format.find(std::string("field:") + field) !=
		       std::string::npos;
	};

	for (const char *field : {"const struct page_pool * pool;",
				  "s32 inflight;", "u32 hold;", "u32 release;",
				  "u64 secs;"})
		expect(has(field), std::string("the format has ") + field);
	for (const char *field : {"u32 id;", "int ifindex;"})
		expect_eq(has(field), pools_have_ids(),
			  std::string("whether the format has ") + field);
}

void event_fires_each_minute()
{
	Trace trace({stalled_event, std::string(release_event) +
					    ":inflight == 0"});
	Stall stall(Purge::off, {0, true});
	std::int64_t last = 0;
	int fired = 0;

	expect_eq(stall.pool.inflight, 1, "pages in flight");
	/* A busy machine may be late, the test's own deadline ends the wait. */
	for (; fired < 3; wait(std::chrono::seconds(1)))
		for (const TraceEvent &event : trace.read()) {
			if (event.fields.at("page_pool") != stall.pool.name)
				continue;
			expect_eq(event.name, "page_pool_release_stalled",
				  "the event");
			const std::int64_t age = age_of(event, 0);

			expect(age - last >= 59,
			       "a minute has passed: " + event.line);
			last = age;
			fired++;
		}

	stall.socket.reset();
	expect(freed_within(trace, stall.pool.name, patience),
	       "its end is told by page_pool_release");
}

/**
 * Adds up how often the log has warned about each pool. Where pools have no id,
 * a second line about one of them shows by its age: two intervals of a minute.
 */
void count_warnings(Kmsg &log, std::map<std::string, int> &count)
{
	const bool ids = pools_have_ids();

	for (const std::string &line : log.read()) {
		const auto at = line.find("stalled pool shutdown");
		int age = 0;

		if (at == std::string::npos)
			continue;
		if (ids)
			count[line.substr(at, line.find(',', at) - at)]++;
		else if (std::sscanf(line.c_str() + at,
				     "%*s pool shutdown %*d inflight %d sec",
				     &age) == 1)
			count["a pool"] = std::max(count["a pool"], age / 60);
	}
}

/**
 * Two intervals of 60 seconds have passed for the pool when it has been looked at,
 * once a second at most, 125 times. A wait for a time would not say so: a busy
 * machine may run the pool's work late.
 */
void log_warns_once()
{
	std::map<std::string, int> count;
	Kmsg log;
	Trace trace({release_event});
	Stall stall(Purge::off, {0, true});

	for (int looks = 0; looks < 125; wait(std::chrono::seconds(1))) {
		for (const TraceEvent &event : trace.read())
			looks += event.fields.at("page_pool") == stall.pool.name;
		/* Often, before the log overwrites what is not yet read. */
		count_warnings(log, count);
	}
	count_warnings(log, count);

	expect(!count.empty(), "the log tells of the pool");
	for (const auto &[pool, times] : count)
		expect_eq(times, 1, "the number of lines on " + pool);
}

/** A pool whose device lives on is reported by the event, not in the log. */
void live_device_has_event_and_no_warning()
{
	Trace trace({stalled_event, release_event});
	Kmsg log;
	Netdevsim device;
	int fired = 0;
	std::string id;

	device.up();
	device.hold_page(true);
	/* Devices of other namespaces may have the same ifindex. */
	const std::string pool =
		pool_destroyed_by([&device] { device.down(); }).name;

	/* A few more looks at the pool, which come each second: no more events. */
	for (int looks = 0; looks < 4; wait(std::chrono::seconds(1)))
		for (const TraceEvent &event : trace.read()) {
			if (event.fields.at("page_pool") != pool)
				continue;
			if (event.name == "page_pool_release") {
				looks += fired > 0;
				continue;
			}
			age_of(event, device.ifindex());
			id = event.fields.at("id");
			fired++;
		}
	expect_eq(fired, 1, "the number of events");
	std::map<std::string, int> count;
	count_warnings(log, count);
	expect_eq(count.count("stalled pool shutdown: id " + id), 0u,
		  "warnings about the pool");
	device.hold_page(false);
	expect(freed_within(trace, pool, patience), "the pool is freed then");
}

std::vector<Test> all()
{
	std::vector<Test> tests = {
		{.name = "event/fires_each_minute",
		 .needs = Needs::stalled_event,
		 .run = event_fires_each_minute,
		 .timeout_s = 400},
		{.name = "event/log_warns_once",
		 .needs = Needs::stalled_event,
		 .run = log_warns_once,
		 .timeout_s = 400},
		{.name = "event/live_device_has_event_and_no_warning",
		 .needs = Needs::stalled_event,
		 .run = live_device_has_event_and_no_warning,
		 .timeout_s = 300},
		{.name = "event/has_its_fields",
		 .needs = Needs::stalled_event,
		 .run = event_has_its_fields},
	};

	for (const Purge value : {Purge::flush, Purge::lossless})
		tests.push_back({.name = std::string("pool/") +
					 to_string(value) + "/rst_on_another_cpu",
				 .needs = Needs::purge_sysctl,
				 .run = [value] { rst_on_another_cpu(value); },
				 .alone = true,
				 .timeout_s = pool_timeout_s});
	for (const Purge value : {Purge::off, Purge::flush, Purge::lossless}) {
		const std::string name = to_string(value);

		for (const std::size_t bytes : {std::size_t{0}, payload})
			tests.push_back(
				{.name = "pool/" + name +
					 (bytes ? "/unread" : "/fin_only"),
				 .needs = Needs::purge_sysctl,
				 .run = [value, bytes] {
					 purge_frees_the_pool(value, bytes);
				 },
				 .same_without = !purges(value, bytes),
				 .timeout_s = pool_timeout_s});
		tests.push_back({.name = "pool/" + name + "/fin_without_rst",
				 .needs = Needs::purge_sysctl,
				 .run = [value] { fin_alone_holds(value); },
				 .same_without = true,
				 .timeout_s = pool_timeout_s});
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
