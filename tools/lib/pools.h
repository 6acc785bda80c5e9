/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judging page pools: the netdev family, the kernel log and the events each
 * see some of them; here the sightings become one list with an age and a
 * trend. Pure functions over the facts.
 */
#pragma once

#include <string>
#include <vector>

#include "facts.h"
#include "names.h"

namespace rxstall {

enum class Trend : uint8_t {
	unknown,	/* one sighting only */
	draining,
	flat,
	growing,
	negative,	/* in flight below zero: the driver freed a page twice */
	freed,		/* reported earlier, gone now */
};

inline constexpr std::array<Name<Trend>, 6> trend_names{{
	{Trend::unknown, "unknown"},
	{Trend::draining, "draining"},
	{Trend::flat, "flat"},
	{Trend::growing, "growing"},
	{Trend::negative, "negative"},
	{Trend::freed, "freed"},
}};

inline std::string_view name(Trend t) { return name_of(trend_names, t); }

struct PoolView {
	std::optional<uint64_t> id;
	std::string address;
	uint32_t netns = 0;
	uint32_t ifindex = 0;
	std::string device;
	std::string driver;
	uint32_t napi_id = 0;
	int64_t inflight = 0;
	std::optional<uint64_t> inflight_mem;
	std::optional<uint64_t> stalled_s;	/* absent: attached, or unknown */
	Trend trend = Trend::unknown;
	bool listed = false;			/* the netdev family knows it */
	bool detached = false;
};

/* All pools known to the snapshot, the longest stalled first. */
[[nodiscard]] std::vector<PoolView> merge_pools(const Snapshot &snapshot);

/*
 * Who may hold the pages of detached pools. Without a page-by-page join
 * this is a guess, and says so: sockets known to sit in page-pool memory,
 * else any dead socket with receive memory, else nobody.
 */
[[nodiscard]] std::string holder_guess(const Snapshot &snapshot);

} // namespace rxstall
