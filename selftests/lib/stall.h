// SPDX-License-Identifier: GPL-2.0
/*
 * Page pools that wait for a page which a socket holds, and the trace events that
 * tell of them.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "netns.h"
#include "scenario.h"
#include "trace.h"
#include "unique_fd.h"
#include "veth.h"

namespace selftest {

inline constexpr const char *release_event = "page_pool/page_pool_release";
inline constexpr const char *stalled_event =
	"page_pool/page_pool_release_stalled";

/**
 * page_pool_release_retry() runs once a second: how long to wait for what must not
 * come, and, on a busy machine, for what must.
 */
inline constexpr std::chrono::seconds prompt{3};
inline constexpr std::chrono::seconds patience{30};

/** How a link's pool is destroyed. */
enum class By { removing_the_link, detaching_the_pool };

/** A pool as it was right after it had been destroyed. */
struct DestroyedPool {
	std::string name{};		/**< as the events print it */
	std::int64_t inflight = 0;
};

/** Runs @destroy, and gives the pool it destroys. Throws Unmet if there is none. */
DestroyedPool pool_destroyed_by(const std::function<void()> &destroy);

/** Destroys the pool of @link; the same. */
DestroyedPool destroy_pool(VethLink &link, By by = By::removing_the_link);

/**
 * An abandoned connection over veth whose link's pool has been destroyed. All of
 * it, the calling thread included, stays on one CPU.
 */
struct Stall {
	Netns peer = Netns::create();
	Netns receiver = Netns::create();
	VethLink link;
	unique_fd socket{};
	DestroyedPool pool{};

	Stall(Purge value, const Farewell &farewell,
	      By by = By::removing_the_link);
};

/** Sleeps. */
void wait(std::chrono::milliseconds duration);

/** Whether @pool is freed, with inflight 0, before @limit has passed. */
bool freed_within(Trace &trace, const std::string &pool,
		  std::chrono::seconds limit);

/** Whether pools have an id and a device in this kernel (since 6.8). */
bool pools_have_ids();

/**
 * Checks what holds for every page_pool_release_stalled, and returns the age it
 * gives, in seconds. Throws Unmet.
 */
std::int64_t age_of(const TraceEvent &event, int ifindex);

} // namespace selftest
