/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judging page pools: the netdev family, the kernel log and the events each
 * see some of them; here the sightings become one list with an age and a
 * trend. Pure functions over the facts.
 */
#pragma once

#include <map>
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

/* Dead or alive, sockets of one process that keep pages of a pool. */
struct PoolHolder {
	std::string process;	/* as owner_text(): raw */
	int pid = 0;
	uint64_t sockets = 0;
	uint64_t pages = 0;	/* one that two sockets share counts for both */
};

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
	uint64_t key = 0;			/* 0: no page in a receive queue led to it */
	std::optional<uint32_t> hold;
	uint64_t reached = 0;			/* different pages that receive queues led to */
	std::vector<PoolHolder> holders;	/* who holds most comes first */
	bool exact = false;	/* holders is all there is to know, even if it is empty */
};

/* All pools known to the snapshot, the longest stalled first. */
[[nodiscard]] std::vector<PoolView> merge_pools(const Snapshot &snapshot);

/* "java[812] (3 sockets) +1, 4 of 5 pages"; else that nobody does, or that it is not known. */
[[nodiscard]] std::string holders_text(const PoolView &pool);

/* The pool of the snapshot that a report tells of, and so its holders and its device. */
[[nodiscard]] PoolView view_of(const Snapshot &snapshot, const PoolReport &report);

/*
 * Remembers the device and the driver of pools: they are gone from the kernel's
 * answers together with the device, which is when one wants to know them.
 */
class PoolMemory {
public:
	/* Fills in what is missing in these pools, then learns from them. */
	void complete(std::vector<Pool> &pools);

private:
	std::map<std::pair<uint64_t, bool>, Pool> known_;	/* id, or key and false */
};

/*
 * Who may hold the pages of detached pools. Without a page-by-page join
 * this is a guess, and says so: sockets known to sit in page-pool memory,
 * else any dead socket with receive memory, else nobody.
 */
[[nodiscard]] std::string holder_guess(const Snapshot &snapshot);

} // namespace rxstall
