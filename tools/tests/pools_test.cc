// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/pools.h"

using namespace rxstall;

namespace {

PoolReport logged(double at, std::optional<uint64_t> id, int64_t inflight, uint64_t stalled)
{
	return {ReportSource::log, at, id, {}, inflight, stalled};
}

} // namespace

TEST(Pools, AgeComesFromTheDetachTimeOnTheBootClock)
{
	Snapshot s;
	s.boottime = 1000;
	s.pools = {{4, 1, 2, "eth0", "ice", 0, 1, 4096, 400}};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 1u);
	EXPECT_EQ(views[0].stalled_s, 600u);
	EXPECT_TRUE(views[0].detached);
	EXPECT_TRUE(views[0].listed);

	/* a clock that has not reached the detach time is no negative age */
	s.pools[0].detached_at = 2000;
	EXPECT_EQ(merge_pools(s)[0].stalled_s, 0u);
	s.pools[0].detached_at.reset();
	EXPECT_FALSE(merge_pools(s)[0].stalled_s);
	EXPECT_FALSE(merge_pools(s)[0].detached);
}

/* incident first-seen-late: the first line already says 200399 s */
TEST(Pools, AgeFromTheLogNotFromFirstSight)
{
	Snapshot s;
	s.boottime = 300'010;
	s.reports = {logged(300'000, 4, 21, 200'399)};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 1u);
	EXPECT_EQ(views[0].stalled_s, 200'409u);
	EXPECT_EQ(views[0].trend, Trend::unknown);
	EXPECT_FALSE(views[0].listed);
}

/* incident draining: lines without id, a minute apart */
TEST(Pools, DrainingWithoutAnId)
{
	Snapshot s;
	s.boottime = 1540;
	const int64_t inflight[] = {199, 192, 170, 103, 86, 32, 16, 2};
	for (int i = 0; i < 8; i++)
		s.reports.push_back(logged(1060.4 + 60.4 * i, {}, inflight[i],
					   static_cast<uint64_t>(60 + 60.4 * i)));
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 1u);
	EXPECT_EQ(views[0].inflight, 2);
	EXPECT_EQ(views[0].trend, Trend::draining);
}

TEST(Pools, TwoPoolsWithoutIdsAreToldApartByTheirStart)
{
	Snapshot s;
	s.boottime = 1100;
	s.reports = {logged(1000, {}, 1, 60), logged(1030, {}, 5, 60), logged(1060, {}, 1, 120),
		     logged(1090, {}, 7, 120)};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 2u);
	EXPECT_EQ(views[0].trend, Trend::flat);
	EXPECT_EQ(views[1].trend, Trend::growing);
}

TEST(Pools, NegativeIsShown)
{
	Snapshot s;
	s.boottime = 100;
	s.reports = {logged(90, 9, -1783494730, 60)};
	auto views = merge_pools(s);
	EXPECT_EQ(views[0].inflight, -1783494730);
	EXPECT_EQ(views[0].trend, Trend::negative);
}

TEST(Pools, SilentForTwoTurnsIsFreed)
{
	Snapshot s;
	s.boottime = 1000;
	s.reports = {logged(860, 9, 3, 60)};
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::freed);
	s.reports = {logged(880, 9, 3, 60)};
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::unknown);
	/* the netdev family still lists it: not freed, whatever the log does not say */
	s.reports = {logged(100, 9, 3, 60)};
	s.pools = {{9, 1, 0, "", "", 0, 3, {}, 40}};
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::unknown);
}

TEST(Pools, HolderIsCalledAGuess)
{
	Snapshot s;
	EXPECT_EQ(holder_guess(s), "no dead socket holds page-pool memory: look at the driver");
	Socket socket;
	socket.rmem = 832;
	socket.owners = {{Holder::process, 812, 812, 31, "java", ""}};
	s.sockets = {socket};
	EXPECT_EQ(holder_guess(s), "guess, the largest holder: java[812]: 1 socket, 832 of receive memory");
	s.sockets[0].pool_pages = Maybe::no;
	EXPECT_EQ(holder_guess(s), "no dead socket holds page-pool memory: look at the driver");
	s.sockets[0].pool_pages = Maybe::yes;
	EXPECT_EQ(holder_guess(s).find("sockets in page-pool memory"), 0u);
}
