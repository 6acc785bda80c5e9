// SPDX-License-Identifier: GPL-2.0
/*
 * Page pools that cannot be freed: whether the purge lets go of their pages, what
 * page_pool:page_pool_release_stalled reports, and what the kernel log says. The
 * slow ones wait for the event's interval of 60 seconds and run beside the others.
 */
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "lib/checked.h"
#include "lib/kmsg.h"
#include "lib/ktap.h"
#include "lib/netdevsim.h"
#include "lib/scenario.h"
#include "lib/trace.h"
#include "lib/veth.h"

namespace {

using namespace selftest;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr std::size_t payload = 3000;
/* page_pool_release_retry() runs once a second. */
constexpr seconds prompt{3};

const char *const release_event = "page_pool/page_pool_release";
const char *const stalled_event = "page_pool/page_pool_release_stalled";

/** An abandoned connection over veth whose link has been taken away. */
struct Stall {
	Netns peer = Netns::create();
	Netns receiver = Netns::create();
	unique_fd socket{};
	std::string pool{};		/* as the events print it */
	std::int64_t inflight = 0;	/* right after the link went */

	Stall(Purge value, const Farewell &farewell)
	{
		stay_on_this_cpu();

		VethLink link(peer, receiver);

		{
			const auto inside = receiver.enter();

			set_purge(value);
		}
		socket = abandoned_connection(link, peer, receiver, farewell);

		/* Destroying the pool is our own doing: only our events. */
		Trace trace({std::string(release_event) + ":common_pid == " +
			     std::to_string(::getpid())});

		link.remove();
		for (const TraceEvent &event : trace.read()) {
			pool = event.fields.at("page_pool");
			inflight = event.number("inflight");
		}
		expect(!pool.empty(), "a page_pool was destroyed with the link");
	}
};

void wait(seconds duration)
{
	::poll(nullptr, 0, static_cast<int>(duration.count()) * 1000);
}

/** Whether @pool is freed, with inflight 0, before @limit has passed. */
bool freed_within(Trace &trace, const std::string &pool, seconds limit)
{
	const auto end = Clock::now() + limit;

	do {
		for (const TraceEvent &event : trace.read())
			if (event.fields.at("page_pool") == pool &&
			    event.name == "page_pool_release" &&
			    event.number("inflight") == 0)
				return true;
		::poll(nullptr, 0, 50);
	} while (Clock::now() < end);
	return false;
}

void purge_frees_the_pool(Purge value, std::size_t bytes)
{
	Trace trace({release_event});
	Stall stall(value, {bytes, true});
	const bool freed = freed_within(trace, stall.pool, prompt);

	expect_eq(freed, purges(value, bytes), "whether the pool was freed");
	if (freed)
		return;
	stall.socket.reset();
	expect(freed_within(trace, stall.pool, prompt),
	       "the pool is freed once the socket is closed");
}

/** Without a RST nothing is purged, whatever the value. */
void fin_alone_holds(Purge value)
{
	Trace trace({release_event});
	Stall stall(value, {0, false});

	expect(!freed_within(trace, stall.pool, prompt), "the pool is held");
}

void event_has_its_fields()
{
	const std::string format =
		Trace::format("page_pool", "page_pool_release_stalled");

	for (const char *field :
	     {"const struct page_pool * pool;", "u32 id;", "int ifindex;",
	      "s32 inflight;", "u32 hold;", "u32 release;", "u64 secs;"})
		expect(format.find(std::string("field:") + field) !=
			       std::string::npos,
		       std::string("the format has ") + field);
}

/** Checks what holds for each event, and returns the age it gives. */
std::int64_t age_of(const TraceEvent &event, int ifindex)
{
	expect(event.number("id") > 0, "the pool has an id: " + event.line);
	expect_eq(event.number("ifindex"), ifindex, "ifindex");
	expect(event.number("inflight") > 0, "inflight > 0: " + event.line);
	expect_eq(event.number("hold") - event.number("release"),
		  event.number("inflight"), "hold - release");
	return event.number("secs");
}

void event_fires_each_minute()
{
	Trace trace({stalled_event, std::string(release_event) +
					    ":inflight == 0"});
	Stall stall(Purge::off, {0, true});
	std::int64_t last = 0;
	int fired = 0;

	expect_eq(stall.inflight, 1, "pages in flight");
	wait(seconds(190));
	for (const TraceEvent &event : trace.read()) {
		if (event.fields.at("page_pool") != stall.pool)
			continue;
		expect_eq(event.name, "page_pool_release_stalled", "the event");
		const std::int64_t age = age_of(event, 0);

		expect(age - last >= 59 && age - last <= 64,
		       "a minute has passed: " + event.line);
		last = age;
		fired++;
	}
	expect_eq(fired, 3, "the number of events in 190 s");

	stall.socket.reset();
	expect(freed_within(trace, stall.pool, prompt),
	       "its end is told by page_pool_release");
}

/** How often the log has warned about each pool since @log began. */
std::map<std::string, int> warnings(Kmsg &log)
{
	std::map<std::string, int> count;

	for (const std::string &line : log.read()) {
		const auto at = line.find("stalled pool shutdown: ");

		if (at != std::string::npos)
			count[line.substr(at, line.find(',', at) - at)]++;
	}
	return count;
}

void log_warns_once()
{
	Kmsg log;
	Stall stall(Purge::off, {0, true});

	wait(seconds(130));
	const auto count = warnings(log);

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
	std::string id, pool;

	device.up();
	device.hold_page(true);
	device.down();
	wait(seconds(65));
	for (const TraceEvent &event : trace.read()) {
		if (event.name != "page_pool_release_stalled" ||
		    event.number("ifindex") != device.ifindex())
			continue;
		age_of(event, device.ifindex());
		id = event.fields.at("id");
		pool = event.fields.at("page_pool");
		fired++;
	}
	expect_eq(fired, 1, "the number of events in 65 s");
	expect_eq(warnings(log).count("stalled pool shutdown: id " + id), 0u,
		  "warnings about the pool");
	device.hold_page(false);
	expect(freed_within(trace, pool, prompt), "the pool is freed then");
}

std::vector<Test> all()
{
	std::vector<Test> tests = {
		{.name = "event/fires_each_minute",
		 .needs = Needs::stalled_event,
		 .run = event_fires_each_minute,
		 .timeout_s = 240},
		{.name = "event/log_warns_once",
		 .needs = Needs::stalled_event,
		 .run = log_warns_once,
		 .timeout_s = 200},
		{.name = "event/live_device_has_event_and_no_warning",
		 .needs = Needs::stalled_event,
		 .run = live_device_has_event_and_no_warning,
		 .timeout_s = 120},
		{.name = "event/has_its_fields",
		 .needs = Needs::stalled_event,
		 .run = event_has_its_fields},
	};

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
				 .same_without = !purges(value, bytes)});
		tests.push_back({.name = "pool/" + name + "/fin_without_rst",
				 .needs = Needs::purge_sysctl,
				 .run = [value] { fin_alone_holds(value); },
				 .same_without = true});
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
