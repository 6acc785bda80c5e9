// SPDX-License-Identifier: GPL-2.0
/*
 * Page pools that wait for a page which a socket holds, and the trace events that
 * tell of them.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "netns.h"
#include "scenario.h"
#include "trace.h"
#include "unique_fd.h"
#include "veth.h"

namespace selftest {

inline constexpr const char *release_event = "page_pool/page_pool_release";
inline constexpr const char *stalled_event =
	"page_pool/page_pool_release_stalled";
/** The kernel's log lines about stalled pools, traced by who prints them. */
inline constexpr const char *log_event =
	"printk/console:msg ~ \"*stalled pool shutdown*\"";

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

/**
 * How often @pool is looked at until it is freed, with inflight 0; nothing if
 * @limit passes before.
 */
std::optional<int> looks_until_freed(Trace &trace, const std::string &pool,
				     std::chrono::seconds limit);

/** Whether @pool is freed before @limit has passed. */
bool freed_within(Trace &trace, const std::string &pool,
		  std::chrono::seconds limit);

/** Whether pools have an id and a device in this kernel (since 6.8). */
bool pools_have_ids();

/**
 * The looks at pools, the reports and the log lines about them. By jiffies, as the
 * kernel reckons the age, so that a machine that loses ticks changes nothing.
 */
struct StalledTrace : Trace {
	StalledTrace()
		: Trace({release_event, stalled_event, log_event},
			Addresses::real, Stamps::jiffies)
	{
	}
};

/**
 * Follows one destroyed pool through a StalledTrace, made before the pool was
 * destroyed.
 *
 * page_pool_release_retry() looks at the pool (page_pool_release), then reports it
 * (page_pool_release_stalled), then prints its line, all in one worker. So the
 * look before a report has the same counts, and the line after either is about
 * this pool, whatever id it gives.
 */
class PoolWatch {
public:
	explicit PoolWatch(std::string pool) : pool_(std::move(pool)) {}

	/**
	 * Takes the trace's next event. True if it reports this pool; then all
	 * that holds for each report has been checked, @ifindex among it. Throws
	 * Unmet.
	 */
	bool is_report(const TraceEvent &event, int ifindex);

	/** The looks since the pool was destroyed or last reported. */
	[[nodiscard]] int looks() const { return looks_; }
	/** The log lines about it. */
	[[nodiscard]] int log_lines() const { return log_lines_; }

private:
	void check_report(const TraceEvent &event, int ifindex) const;
	void check_log_line(const TraceEvent &line) const;

	std::string pool_;
	TraceEvent look_{};	/**< the last one */
	TraceEvent report_{};	/**< the last one */
	double since_ = 0;	/**< when it was destroyed or last reported */
	std::int64_t age_ = 0;	/**< by the last report, in s */
	std::string worker_{};	/**< who is still at this pool, if anyone */
	int looks_ = 0;
	int log_lines_ = 0;
};

} // namespace selftest
