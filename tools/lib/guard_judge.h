/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `rxstall guard` decides, as functions of facts and of a clock that the
 * caller passes in: when a full scan is worth its price, what of it may be
 * released now, and how much a minute. Times are seconds of CLOCK_BOOTTIME.
 */
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "facts.h"
#include "judge.h"

namespace rxstall {

/* The spacing that keeps something of this cost (CPU seconds) below a share, but not below floor. */
[[nodiscard]] double spacing(double cost, double share, double floor);

/* What a cheap look found. */
struct Look {
	uint64_t closed = 0;	/* TCP sockets in no hash table: in CLOSE, dead or new */
	uint64_t waiting = 0;	/* in CLOSE_WAIT, FIN only, old enough */
	bool pool_stalled = false;
};

class Trigger {
public:
	/*
	 * floor: between two scans at least; rescan: at most, whatever the looks say,
	 * unless scans are so dear that they would take more than that share of a CPU.
	 */
	Trigger(double floor, double rescan, double share)
		: floor_(floor), rescan_(rescan), share_(share), longest_(rescan)
	{
	}

	/*
	 * Is a scan due? Counts are compared with those after the last scan: sockets
	 * that hold nothing, or may not be released, stay and are no news.
	 */
	[[nodiscard]] bool due(const Look &look, double now);

	/* So many of the waiting sockets hold nothing any more: the next ones are news. */
	void freed(uint64_t waiting);

	/*
	 * A scan has ended. found: sockets it could release; ripe_in: seconds until
	 * there is something to release for sure; cost: CPU seconds it took. Scans
	 * that find nothing come ever more rarely.
	 */
	void scanned(size_t found, std::optional<double> ripe_in, double cost, double now);

private:
	const double floor_;
	const double rescan_;
	const double share_;
	double longest_;
	std::optional<double> last_;
	double spacing_ = 0;
	std::optional<double> ripe_at_;
	Look seen_;		/* the latest look */
	Look known_;		/* what the last scan explained */
};

/* At most so many a minute. */
class Rate {
public:
	explicit Rate(unsigned limit) : limit_(limit) {}

	[[nodiscard]] unsigned left(double now);
	void take() { taken_++; }
	/* Seconds until there is room again. */
	[[nodiscard]] double wait(double now) const;

private:
	const unsigned limit_;
	unsigned taken_ = 0;
	double begin_ = 0;
};

/* Sockets that have been tried, so that none is tried or told again within the hour. */
class Tried {
public:
	void add(const Socket &socket, double now) { when_[key(socket)] = now; }
	[[nodiscard]] bool contains(const Socket &socket) const { return when_.contains(key(socket)); }
	void forget_old(double now);

private:
	using Key = std::tuple<uint32_t, uint64_t, uint64_t>;
	static Key key(const Socket &socket) { return {socket.netns, socket.inode, socket.cookie}; }

	std::map<Key, double> when_;
};

struct Plan {
	std::vector<Socket> sockets;		/* the oldest first */
	size_t left_over = 0;			/* beyond the limit */
	std::optional<uint64_t> ripe_in_ms;	/* until the next one is old enough */
};

/*
 * Which FIN-only sockets a scan found that may be released without loss and
 * whose peer has been silent for min_age_ms. The filter's own age is not
 * used. A socket of unknown age is left alone. self as in decide().
 */
[[nodiscard]] Plan plan_release(const std::vector<Socket> &sockets, Filter filter, uint64_t min_age_ms,
				const Tried &tried, size_t limit, int self);

} // namespace rxstall
