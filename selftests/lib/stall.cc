// SPDX-License-Identifier: GPL-2.0
#include "stall.h"

#include <poll.h>
#include <unistd.h>

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

bool freed_within(Trace &trace, const std::string &pool,
		  std::chrono::seconds limit)
{
	using Clock = std::chrono::steady_clock;
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

bool pools_have_ids()
{
	/* A kernel that does not tell is taken for a new one. */
	return struct_has("page_pool", "user").value_or(true);
}

std::int64_t age_of(const TraceEvent &event, int ifindex)
{
	if (pools_have_ids()) {
		expect(event.number("id") > 0,
		       "the pool has an id: " + event.line);
		expect_eq(event.number("ifindex"), ifindex, "ifindex");
	}
	expect(event.number("inflight") > 0, "inflight > 0: " + event.line);
	expect_eq(event.number("hold") - event.number("release"),
		  event.number("inflight"), "hold - release");
	return event.number("secs");
}

} // namespace selftest
