// SPDX-License-Identifier: GPL-2.0
/*
 * Page pools that cannot be freed: whether the purge lets go of their pages, what
 * page_pool:page_pool_release_stalled reports, and what the kernel log says. The
 * slow ones wait for the event's interval of 60 seconds and run beside the others.
 */
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "lib/checked.h"
#include "lib/cpu.h"
#include "lib/ktap.h"
#include "lib/netdevsim.h"
#include "lib/scenario.h"
#include "lib/stall.h"
#include "lib/trace.h"
#include "lib/veth.h"

namespace {

using namespace selftest;
constexpr std::size_t payload = 3000;
/* Other traffic may wake an idle CPU some seconds later. */
constexpr int looks_for_an_idle_cpu = 3;
/* Where the pool is not freed, a test waits all its patience for that. */
constexpr int pool_timeout_s = 200;

void purge_frees_the_pool(Purge value, std::size_t bytes)
{
	Trace trace({release_event});
	Stall stall(value, {bytes, true});

	expect(freed_within(trace, stall.pool.name, patience),
	       "the pool is freed");
}

/**
 * The trace begins when the pool is there: before, another one may have ended that
 * had the same address.
 */
void pool_is_held(Purge value, const Farewell &farewell)
{
	Stall stall(value, farewell);
	Trace trace({release_event});

	expect(!freed_within(trace, stall.pool.name, prompt), "the pool is held");
	stall.socket.reset();
	expect(freed_within(trace, stall.pool.name, patience),
	       "the pool is freed once the socket is closed");
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

	/* Looks, not seconds: a busy machine may be late with all of them. */
	const auto looks =
		looks_until_freed(trace, destroy_pool(link).name, patience);

	expect(looks.has_value(), "the pool is freed");
	expect(*looks <= looks_for_an_idle_cpu,
	       "it is freed soon, not after " + std::to_string(*looks) + " looks");
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

/**
 * Three reports at intervals of 60 looks at most: three in 200 seconds, on a machine
 * that has a look made each second. A busy one may be late; the test's own deadline
 * ends the wait.
 */
void event_fires_each_minute()
{
	StalledTrace trace;
	Stall stall(Purge::off, {0, true});
	PoolWatch watch(stall.pool.name);

	expect_eq(stall.pool.inflight, 1, "pages in flight");
	for (int fired = 0; fired < 3; wait(std::chrono::seconds(1)))
		for (const TraceEvent &event : trace.read()) {
			fired += watch.is_report(event, 0);
			expect(watch.looks() <= 60,
			       "a report within 60 looks: " + event.line);
		}

	stall.socket.reset();
	expect(freed_within(trace, stall.pool.name, patience),
	       "its end is told by page_pool_release");
}

/** Two reports, and a look after the second one, when its line would be out. */
void log_warns_once()
{
	StalledTrace trace;
	Stall stall(Purge::off, {0, true});
	PoolWatch watch(stall.pool.name);

	for (int fired = 0; fired < 2 || !watch.looks();
	     wait(std::chrono::seconds(1)))
		for (const TraceEvent &event : trace.read())
			fired += watch.is_report(event, 0);

	expect_eq(watch.log_lines(), 1, "the number of log lines on the pool");
}

/** A pool whose device lives on is reported by the event, not in the log. */
void live_device_has_event_and_no_warning()
{
	StalledTrace trace;
	Netdevsim device;
	int fired = 0;

	device.up();
	device.hold_page(true);
	/* Devices of other namespaces may have the same ifindex. */
	const std::string pool =
		pool_destroyed_by([&device] { device.down(); }).name;
	PoolWatch watch(pool);

	/* A few more looks at the pool, which come each second: no more events. */
	for (; !fired || watch.looks() < 4; wait(std::chrono::seconds(1)))
		for (const TraceEvent &event : trace.read())
			fired += watch.is_report(event, device.ifindex());
	expect_eq(fired, 1, "the number of events");
	expect_eq(watch.log_lines(), 0, "the number of log lines on the pool");
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
					 if (purges(value, bytes))
						 purge_frees_the_pool(value, bytes);
					 else
						 pool_is_held(value, {bytes, true});
				 },
				 .same_without = !purges(value, bytes),
				 .timeout_s = pool_timeout_s});
		/* Without a RST nothing is purged, whatever the value. */
		tests.push_back({.name = "pool/" + name + "/fin_without_rst",
				 .needs = Needs::purge_sysctl,
				 .run = [value] { pool_is_held(value, {0, false}); },
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
