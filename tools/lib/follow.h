/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turning a stream of sightings into the few lines worth a person's time: a
 * pool that stalls, whose number changes, that is freed; a socket that died
 * with something in its queue. No I/O; the caller passes what it sees.
 */
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facts.h"
#include "trace_parse.h"

namespace rxstall {

enum class PoolNews : uint8_t { stalled, changed, released };

struct PoolLine {
	PoolNews news = PoolNews::stalled;
	PoolReport report;
	int64_t before = 0;		/* changed: pages in flight until now */
	uint64_t stalled_s = 0;		/* since the driver let go, as far as is known */
};

class PoolFollower {
public:
	/*
	 * What is new in this report, if anything. A pool is stalled from the second
	 * sighting on: pages that come back within a second are the rule.
	 */
	std::optional<PoolLine> see(const PoolReport &report);

private:
	struct Seen {
		int64_t inflight;
		double began;	/* CLOCK_BOOTTIME, seconds */
		bool told;
	};

	std::map<std::string, Seen> pools_;
};

class SocketFollower {
public:
	/* A connection that ended; remembers its names. */
	void see(const StateChange &change);

	/* Is a scan due? */
	bool pending() const { return !deaths_.empty(); }

	/*
	 * The dead sockets of a scan whose end was seen, each reported once. Forgets
	 * the deaths: sockets that hold nothing or are closed by now are of no interest.
	 */
	std::vector<Socket> take(const std::vector<Socket> &scanned);

private:
	using Names = std::pair<std::string, std::string>;

	std::set<Names> deaths_;
	std::set<std::pair<uint32_t, uint64_t>> told_;	/* netns, inode */
};

} // namespace rxstall
