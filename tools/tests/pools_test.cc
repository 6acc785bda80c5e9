// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "lib/pools.h"

using namespace rxstall;

namespace {

PoolReport logged(double at, std::optional<uint64_t> id, int64_t inflight, uint64_t stalled)
{
	return {ReportSource::log, at, id, {}, inflight, stalled, {}, 0};
}

PoolReport event(double at, const std::string &address, int64_t inflight, uint64_t count, uint32_t hold)
{
	return {ReportSource::event, at, {}, address, inflight, count, hold, 0};
}

Pool listed(uint64_t id, int64_t inflight, uint64_t detached_at)
{
	Pool pool;
	pool.id = id;
	pool.netns = 1;
	pool.ifindex = 2;
	pool.device = "eth0";
	pool.driver = "ice";
	pool.inflight = inflight;
	pool.inflight_mem = 4096;
	pool.detached_at = detached_at;
	return pool;
}

/* A pool that the iterator came to through a page. */
Pool seen(uint64_t key, std::optional<uint64_t> id, int64_t inflight, uint32_t hold)
{
	Pool pool;
	pool.id = id;
	pool.inflight = inflight;
	pool.detached_at = 400;
	pool.listed = false;
	pool.key = key;
	pool.hold = hold;
	pool.reached = static_cast<uint64_t>(inflight);
	return pool;
}

Socket holder(int pid, uint64_t key, uint64_t pages)
{
	Socket socket;
	socket.rmem = 832;
	socket.pool_pages = key ? Maybe::yes : Maybe::no;
	if (key)
		socket.shares = {{key, pages}};
	socket.owners = {{Holder::process, pid, pid, 31, "java", ""}};
	return socket;
}

} // namespace

TEST(Pools, AgeComesFromTheDetachTimeOnTheBootClock)
{
	Snapshot s;
	s.boottime = 1000;
	s.pools = {listed(4, 1, 400)};
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
	s.pools = {listed(9, 3, 40)};
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

TEST(Pools, PagesLeadToExactlyTheSocketsThatKeepThem)
{
	Snapshot s;
	s.method = "bpf";
	s.boottime = 460;
	s.pools = {seen(1, 4, 2, 64), listed(4, 2, 400), seen(2, 5, 1, 64), listed(6, 1, 400)};
	s.sockets = {holder(812, 1, 2), holder(812, 1, 1), holder(913, 2, 1), holder(77, 0, 0)};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 3u) << "the one that netlink lists, too, is one pool";
	EXPECT_EQ(views[0].device, "eth0");
	EXPECT_TRUE(views[0].listed);
	EXPECT_EQ(holders_text(views[0]), "java[812] (2 sockets), 2 of 2 pages");
	EXPECT_EQ(holders_text(views[1]), "java[913] (1 socket), 1 of 1 page");
	EXPECT_FALSE(views[1].listed);
	EXPECT_EQ(holders_text(views[2]), "no socket: look at the driver");

	/* a page whose pool could not be told: nobody's innocence is proven */
	s.sockets.push_back(holder(5, 0, 0));
	s.sockets.back().pool_pages = Maybe::yes;
	s.sockets.back().pool_unclear = true;
	views = merge_pools(s);
	EXPECT_TRUE(views[0].exact);
	EXPECT_EQ(holders_text(views[2]), "not known");

	s.sockets.clear();
	s.method = "walk";
	EXPECT_EQ(holders_text(merge_pools(s)[2]), "not known");
}

/* incident invisible-pool: no netdev, one page for 591248 s, the log line repeats */
TEST(Pools, InvisiblePoolJoinsItsEventByPagesTakenAndStart)
{
	Snapshot s;
	s.method = "bpf";
	s.boottime = 591'648;
	s.pools = {seen(1, 4, 1, 64)};
	s.sockets = {holder(812, 1, 1)};
	s.reports = {logged(591'608, 4, 1, 591'208), event(591'640, "0def", 1, 580'000, 128),
		     event(591'641, "0abc", 1, 580'000, 64)};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 2u);
	EXPECT_EQ(views[0].stalled_s, 591'248u);
	EXPECT_EQ(views[0].address, "0abc");
	EXPECT_EQ(views[0].id, 4u);
	EXPECT_EQ(views[0].trend, Trend::flat);
	EXPECT_EQ(holders_text(views[0]), "java[812] (1 socket), 1 of 1 page");
	EXPECT_EQ(holders_text(views[1]), "no socket: look at the driver");
	EXPECT_EQ(view_of(s, s.reports[1]).address, "0def");
}

/* an event has no id, a log line no address: the start of the stall makes them one */
TEST(Pools, LogLineAndEventAreOnePool)
{
	Snapshot s;
	s.boottime = 600;
	s.reports = {logged(560, 4, 21, 160), logged(560, 5, 7, 160), event(599, "0abc", 7, 199, 64),
		     event(599, "0def", 21, 199, 64)};
	auto views = merge_pools(s);
	ASSERT_EQ(views.size(), 2u);
	EXPECT_EQ(views[0].id, 4u);
	EXPECT_EQ(views[0].address, "0def");
	EXPECT_EQ(views[1].address, "0abc");
}

/* incident one-shot: a single line proves no trend, so nothing to alert on */
TEST(Pools, OneShotHasNoTrend)
{
	Snapshot s;
	s.boottime = 1070;
	s.reports = {logged(1060, 4, 1, 60)};
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::unknown);
	s.boottime = 1200;
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::freed);
}

TEST(Pools, GrowingAndFlat)
{
	Snapshot s;
	s.boottime = 1130;
	s.reports = {logged(1060, 4, 1, 60), logged(1120, 4, 5, 120)};
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::growing);
	s.reports[1].inflight = 1;
	EXPECT_EQ(merge_pools(s)[0].trend, Trend::flat);
}

/* incident netdevsim: detached with age while the device lives, then an orphan without ifindex */
TEST(Pools, DeviceIsRememberedAfterItWent)
{
	PoolMemory memory;
	std::vector<Pool> pools = {listed(4, 1, 400), seen(1, {}, 1, 64), seen(2, 9, 1, 64)};
	pools[1].device = "v1";
	memory.complete(pools);

	pools[0].device = pools[0].driver = pools[1].device = "";
	pools[0].netns = pools[0].ifindex = 0;
	memory.complete(pools);
	EXPECT_EQ(pools[0].device, "eth0");
	EXPECT_EQ(pools[0].driver, "ice");
	EXPECT_EQ(pools[0].netns, 1u);
	EXPECT_EQ(pools[1].device, "v1") << "without id it is known by its key";
	EXPECT_EQ(pools[2].device, "");
}
