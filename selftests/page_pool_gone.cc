// SPDX-License-Identifier: GPL-2.0
/*
 * Stalled page pools whose device or network namespace goes away while
 * page_pool:page_pool_release_stalled is being followed. Each waits for at least
 * one interval of 60 seconds.
 */
#include <memory>
#include <string>

#include "lib/ktap.h"
#include "lib/netdevsim.h"
#include "lib/stall.h"

namespace {

using namespace selftest;
using std::chrono::seconds;

/**
 * How many reports of the pool have come since the last call, each of @ifindex.
 * Waits for the first one; the test's deadline ends a wait in vain.
 */
int reports(Trace &trace, PoolWatch &watch, int ifindex)
{
	int found = 0;

	for (; !found; wait(seconds(1)))
		for (const TraceEvent &event : trace.read())
			found += watch.is_report(event, ifindex);
	return found;
}

/** The pool of a live device is stalled, then the device is deleted. */
void device_deleted()
{
	StalledTrace trace;
	Stall stall(Purge::off, {0, true}, By::detaching_the_pool);
	PoolWatch watch(stall.pool.name);

	expect_eq(reports(trace, watch, 0), 1,
		  "the number of events while there is the device");
	stall.link.remove();
	expect_eq(reports(trace, watch, 0), 1,
		  "the number of events a minute after the device");
	stall.socket.reset();
	expect(freed_within(trace, stall.pool.name, patience),
	       "the pool is freed");
}

/** The last socket of a namespace holds the page: both go together. */
void namespace_deleted()
{
	StalledTrace trace;
	auto stall = std::make_unique<Stall>(Purge::off, Farewell{0, true},
					     By::detaching_the_pool);
	const std::string pool = stall->pool.name;
	unique_fd socket = std::move(stall->socket);

	stall.reset();

	PoolWatch watch(pool);

	expect_eq(reports(trace, watch, 0), 1, "the number of events");
	socket.reset();
	expect(freed_within(trace, pool, patience), "the pool is freed");
}

/** A netdevsim device, down, and its pool, which waits for a page. */
struct HeldDevice {
	Netdevsim device{};
	std::string pool{};

	HeldDevice()
	{
		device.up();
		device.hold_page(true);
		pool = pool_destroyed_by([this] { device.down(); }).name;
	}
};

/** The device that the event dereferences is deleted with its pool stalled. */
void visible_device_deleted()
{
	StalledTrace trace;
	HeldDevice held;
	PoolWatch watch(held.pool);

	reports(trace, watch, held.device.ifindex());
	held.device.remove();
	expect(freed_within(trace, held.pool, patience), "the pool is freed");
}

void visible_namespace_deleted()
{
	StalledTrace trace;
	std::unique_ptr<HeldDevice> held;

	{
		const Netns gone = Netns::create();
		const auto inside = gone.enter();

		held = std::make_unique<HeldDevice>();
		PoolWatch watch(held->pool);

		reports(trace, watch, held->device.ifindex());
	}
	expect(freed_within(trace, held->pool, patience), "the pool is freed");
}

} // namespace

int main(int argc, char **argv)
{
	const auto slow = [](const char *name, void (*run)(), int timeout_s) {
		return Test{.name = name, .needs = Needs::stalled_event,
			    .run = run, .timeout_s = timeout_s};
	};

	return ktap_main(argc, argv, {
		slow("veth/device_deleted", device_deleted, 400),
		slow("veth/namespace_deleted", namespace_deleted, 300),
		slow("netdevsim/device_deleted", visible_device_deleted, 300),
		slow("netdevsim/namespace_deleted", visible_namespace_deleted, 300),
	});
}
