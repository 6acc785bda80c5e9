// SPDX-License-Identifier: GPL-2.0
#include "stall.h"

#include <poll.h>
#include <unistd.h>

#include <cmath>

#include "btf.h"
#include "cpu.h"
#include "ktap.h"

namespace selftest {

namespace {

const Netns &after_staying_here(const Netns &peer)
{
	stay_on_this_cpu();
	return peer;
}

/** DEFER_WARN_INTERVAL, and as the work runs once a second, the looks in it. */
constexpr int interval_s = 60;

/** The process id of the one in whose context the event happened. */
std::string task_of(const TraceEvent &event)
{
	const std::string name = event.line.substr(0, event.line.find(" ["));

	/* What is before it, the trace may not know yet: "<...>". */
	return name.substr(name.rfind('-') + 1);
}

bool is_look(const TraceEvent &event, const std::string &pool)
{
	return event.name == "page_pool_release" &&
	       event.fields.at("page_pool") == pool;
}

} // namespace

DestroyedPool pool_destroyed_by(const std::function<void()> &destroy)
{
	/* It is our own doing: only our events. */
	Trace trace({std::string(release_event) +
		     ":common_pid == " + std::to_string(::getpid())});
	DestroyedPool pool;

	destroy();
	for (const TraceEvent &event : trace.read())
		pool = {event.fields.at("page_pool"), event.number("inflight")};
	expect(!pool.name.empty(), "a page_pool was destroyed");
	return pool;
}

DestroyedPool destroy_pool(VethLink &link, By by)
{
	return pool_destroyed_by([&link, by] {
		if (by == By::removing_the_link)
			link.remove();
		else
			link.detach_pool();
	});
}

Stall::Stall(Purge value, const Farewell &farewell, By by)
	: link(after_staying_here(peer), receiver)
{
	{
		const auto inside = receiver.enter();

		set_purge(value);
	}
	socket = abandoned_connection(link, peer, receiver, farewell);
	pool = destroy_pool(link, by);
}

void wait(std::chrono::milliseconds duration)
{
	::poll(nullptr, 0, static_cast<int>(duration.count()));
}

std::optional<int> looks_until_freed(Trace &trace, const std::string &pool,
				     std::chrono::seconds limit)
{
	using Clock = std::chrono::steady_clock;
	const auto end = Clock::now() + limit;
	int looks = 0;

	do {
		for (const TraceEvent &event : trace.read()) {
			if (!is_look(event, pool))
				continue;
			looks++;
			if (event.number("inflight") == 0)
				return looks;
		}
		::poll(nullptr, 0, 50);
	} while (Clock::now() < end);
	return std::nullopt;
}

bool freed_within(Trace &trace, const std::string &pool,
		  std::chrono::seconds limit)
{
	return looks_until_freed(trace, pool, limit).has_value();
}

bool pools_have_ids()
{
	/* A kernel that does not tell is taken for a new one. */
	return struct_has("page_pool", "user").value_or(true);
}

bool PoolWatch::is_report(const TraceEvent &event, int ifindex)
{
	const bool look = is_look(event, pool_);
	const bool report = event.name == "page_pool_release_stalled" &&
			    event.fields.at("page_pool") == pool_;
	const std::string task = task_of(event);

	if (look || report) {
		worker_ = task;
	} else if (task == worker_) {
		if (event.name == "console") {
			log_lines_++;
			check_log_line(event);
		}
		worker_.clear();
	}
	if (look) {
		if (look_.name.empty())
			since_ = event.seconds;
		else
			looks_++;
		look_ = event;
		/* The end of one that had the address before. */
		if (event.number("inflight") == 0) {
			look_ = {};
			looks_ = 0;
		}
	}
	if (!report)
		return false;

	check_report(event, ifindex);
	report_ = event;
	since_ = event.seconds;
	age_ = event.number("secs");
	looks_ = 0;
	return true;
}

void PoolWatch::check_report(const TraceEvent &event, int ifindex) const
{
	if (pools_have_ids()) {
		expect(event.number("id") > 0,
		       "the pool has an id: " + event.line);
		expect_eq(event.number("ifindex"), ifindex, "ifindex");
	}
	expect(event.number("inflight") > 0, "inflight > 0: " + event.line);
	expect_eq(task_of(event), task_of(look_), "who reports after the look");
	for (const char *count : {"inflight", "hold", "release"})
		expect_eq(event.number(count), look_.number(count), count);

	/* A late worker makes the interval longer, but does not look more often. */
	expect(looks_ <= interval_s, "no more than " + std::to_string(interval_s) +
					     " looks, but " + std::to_string(looks_));

	const std::int64_t passed = event.number("secs") - age_;

	expect(passed >= interval_s, "a minute has passed: " + event.line);
	/* The stamps are in hundredths, and secs is rounded down. */
	const double stamped = (event.seconds - since_) / 100;

	expect(std::abs(static_cast<double>(passed) - stamped) < 2,
	       "secs agrees with the stamps, " + std::to_string(stamped) +
		       " s apart: " + event.line);
}

void PoolWatch::check_log_line(const TraceEvent &line) const
{
	expect(!report_.name.empty(), "the report comes before the log line");
	if (!pools_have_ids())
		return;
	expect(line.line.find("shutdown: id " + report_.fields.at("id") + ",") !=
		       std::string::npos,
	       "the id is that of \"" + report_.line + "\": " + line.line);
}

} // namespace selftest
