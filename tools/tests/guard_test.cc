// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "lib/guard_journal.h"
#include "lib/guard_scan.h"
#include "lib/service.h"
#include "lib/task.h"

using namespace rxstall;

namespace {

constexpr double floor_s = 10, rescan_s = 600, scan_share = 0.00025;

Socket fin_only(uint64_t inode, std::optional<uint64_t> age_ms)
{
	Socket socket;
	socket.inode = inode;
	socket.cookie = inode;
	socket.netns = 1;
	socket.rmem = 832;
	socket.age_ms = age_ms;
	socket.owners = {{Holder::process, 812, 812, 31, "java", ""}};
	return socket;
}

Plan plan(const std::vector<Socket> &sockets, uint64_t min_age_ms, size_t limit = 100)
{
	return plan_release(sockets, {}, min_age_ms, {}, limit, 99);
}

Look look(uint64_t closed, uint64_t waiting = 0, bool pool = false) { return {closed, waiting, pool}; }

/* Waits for the child's end. */
Result<std::string> result_of(Task &task)
{
	pollfd entry{task.fd(), POLLIN, 0};
	do
		poll(&entry, 1, 10'000);
	while (!task.read());
	return task.finish();
}

} // namespace

TEST(Trigger, TheFirstScanIsDueAtOnceAndOneAfterTheLongestPause)
{
	Trigger trigger(floor_s, rescan_s, scan_share);
	EXPECT_TRUE(trigger.due(look(0), 1000));
	trigger.scanned(0, {}, 0, 1000);
	EXPECT_FALSE(trigger.due(look(0), 1599));
	EXPECT_TRUE(trigger.due(look(0), 1600));
}

TEST(Trigger, MoreClosedOrWaitingSocketsAreNews)
{
	for (const Look &news : {look(6, 2), look(5, 3), look(5, 2, true)}) {
		Trigger trigger(floor_s, rescan_s, scan_share);
		EXPECT_TRUE(trigger.due(look(5, 2), 1000));
		trigger.scanned(1, {}, 0, 1000);
		EXPECT_FALSE(trigger.due(look(5, 2), 1020)) << "they stay: no news";
		EXPECT_FALSE(trigger.due(news, 1009)) << "too early";
		EXPECT_TRUE(trigger.due(news, 1010));
	}
}

TEST(Trigger, SocketsThatWereClosedMeanwhileMakeRoomForNews)
{
	Trigger trigger(floor_s, rescan_s, scan_share);
	(void)trigger.due(look(100), 1000);
	trigger.scanned(1, {}, 0, 1000);
	EXPECT_FALSE(trigger.due(look(40), 1020));
	EXPECT_TRUE(trigger.due(look(41), 1040));
}

TEST(Trigger, AfterWaitingSocketsWereFreedTheNextOnesAreNews)
{
	for (uint64_t waiting : {1, 2}) {
		Trigger trigger(floor_s, rescan_s, scan_share);
		(void)trigger.due(look(0, 100), 1000);
		trigger.freed(99);
		trigger.scanned(100, {}, 0, 1000);
		EXPECT_EQ(trigger.due(look(0, waiting), 1020), waiting > 1) << "one could not be freed";
	}
}

TEST(Trigger, FruitlessScansComeEverMoreRarely)
{
	Trigger trigger(floor_s, rescan_s, scan_share);
	double now = 1000;
	(void)trigger.due(look(0), now);
	unsigned scans = 0;
	for (uint64_t closed = 1; now < 1000 + 3600; now += 1, closed++) {
		if (!trigger.due(look(closed), now))
			continue;
		trigger.scanned(0, {}, 0, now);
		scans++;
	}
	EXPECT_LT(scans, 14u) << "6 at the longest pause, and a few while it grows";
	trigger.scanned(3, {}, 0, now);
	EXPECT_TRUE(trigger.due(look(9999), now + floor_s)) << "finding something ends that";
}

TEST(Trigger, DearScansComeMoreRarelyWhenThereIsNoNews)
{
	Trigger trigger(floor_s, rescan_s, scan_share);
	(void)trigger.due(look(0), 1000);
	trigger.scanned(0, {}, 0.7, 1000);
	EXPECT_FALSE(trigger.due(look(0), 3799)) << "0.7 s of CPU are 0.025 % of 2800 s";
	EXPECT_TRUE(trigger.due(look(0), 3801));
	trigger.scanned(0, {}, 0.7, 4000);
	EXPECT_TRUE(trigger.due(look(1), 4020)) << "news is looked at all the same";
}

TEST(Trigger, WhatRipensIsComeBackFor)
{
	Trigger trigger(floor_s, rescan_s, scan_share);
	(void)trigger.due(look(1), 1000);
	trigger.scanned(0, 50, 0.1, 1000);
	EXPECT_FALSE(trigger.due(look(1), 1049));
	EXPECT_TRUE(trigger.due(look(1), 1050));
}

TEST(Rate, SoManyAMinute)
{
	Rate rate(2);
	EXPECT_EQ(rate.left(100), 2u);
	rate.take();
	EXPECT_EQ(rate.wait(110), 0);
	rate.take();
	EXPECT_EQ(rate.left(159), 0u);
	EXPECT_EQ(rate.wait(130), 30);
	EXPECT_EQ(rate.left(160), 2u);
}

TEST(Spacing, KeepsTheShare)
{
	EXPECT_EQ(spacing(0.023, 0.0005, 10), 46);
	EXPECT_EQ(spacing(0.001, 0.0005, 10), 10);
}

TEST(PlanRelease, OldEnoughTheOldestFirstUpToTheLimit)
{
	const auto found = plan({fin_only(1, 70'000), fin_only(2, 59'000), fin_only(3, 90'000),
				 fin_only(4, 60'000), fin_only(5, 10'000)}, 60'000, 2);
	ASSERT_EQ(found.sockets.size(), 2u);
	EXPECT_EQ(found.sockets[0].inode, 3u);
	EXPECT_EQ(found.sockets[1].inode, 1u);
	EXPECT_EQ(found.left_over, 1u);
	EXPECT_EQ(found.ripe_in_ms, 1000u);
}

TEST(PlanRelease, OnlyWhatIsFreeOfLoss)
{
	std::vector<Socket> never;
	for (int kind = 0; kind < 7; kind++)
		never.push_back(fin_only(static_cast<uint64_t>(kind), 90'000));
	never[0].unread = 1;
	never[1].out_of_order = Maybe::yes;
	never[2].error_queue = Maybe::unknown;
	never[3].state = State::established;
	never[4].owners.front().pid = 1;
	never[5].owners.front().pid = 99;
	never[6].age_ms.reset();
	const Plan found = plan(never, 0);
	EXPECT_TRUE(found.sockets.empty());
	EXPECT_FALSE(found.ripe_in_ms);
}

TEST(PlanRelease, TheFilterAndWhatWasTried)
{
	Filter filter;
	filter.pid = 813;
	EXPECT_TRUE(plan_release({fin_only(1, 9)}, filter, 0, {}, 9, 99).sockets.empty());

	Tried tried;
	tried.add(fin_only(1, 9), 1000);
	EXPECT_EQ(plan_release({fin_only(1, 9), fin_only(2, 9)}, {}, 0, tried, 9, 99).sockets.size(), 1u);
	Socket reused = fin_only(1, 9);
	reused.cookie++;
	EXPECT_FALSE(tried.contains(reused)) << "another socket with the same inode number";
	tried.forget_old(4599);
	EXPECT_TRUE(tried.contains(fin_only(1, 9)));
	tried.forget_old(4600);
	EXPECT_FALSE(tried.contains(fin_only(1, 9)));
}

TEST(Task, ItsTextArrivesWhole)
{
	auto task = Task::start([] { return std::string(300'000, 'x'); });
	ASSERT_TRUE(task);
	auto text = result_of(*task);
	ASSERT_TRUE(text);
	EXPECT_EQ(*text, std::string(300'000, 'x'));
}

TEST(Task, FailureAndDeathAreTold)
{
	auto failing = Task::start([]() -> std::string { throw std::runtime_error("no"); });
	EXPECT_EQ(result_of(*failing).error().text, "the scan failed: no");
	auto refused = Task::start([]() -> Result<std::string> { return failure("no BPF"); });
	EXPECT_EQ(result_of(*refused).error().text, "the scan failed: no BPF");
	auto dying = Task::start([]() -> std::string { raise(SIGKILL); return ""; });
	EXPECT_NE(result_of(*dying).error().text.find("signal 9"), std::string::npos);
}

TEST(Task, OneThatNeverEndsIsEnded)
{
	int alive[2];
	ASSERT_EQ(pipe(alive), 0);
	{
		auto task = Task::start([&]() -> std::string { pause(); return ""; });
		ASSERT_TRUE(task);
		close(alive[1]);
	}
	char byte;
	EXPECT_EQ(read(alive[0], &byte, 1), 0) << "the child held the other end";
	close(alive[0]);
}

TEST(ScanReport, ArrivesAsItWasPlanned)
{
	Snapshot snapshot;
	snapshot.kernel = "6.12";
	snapshot.notes = {"no BPF"};
	snapshot.sockets = {fin_only(3, 9)};
	auto report = read_scan_report(dump_scan_report(snapshot, {{fin_only(1, 9), fin_only(2, 8)}, 7, 1500}));
	ASSERT_TRUE(report) << report.error().text;
	ASSERT_EQ(report->plan.sockets.size(), 2u) << "what is planned, not what was found";
	EXPECT_EQ(report->plan.sockets[1].cookie, 2u);
	EXPECT_EQ(report->plan.left_over, 7u);
	EXPECT_EQ(report->plan.ripe_in_ms, 1500u);
	EXPECT_EQ(report->notes, snapshot.notes);
	EXPECT_FALSE(read_scan_report(dump_scan_report(snapshot, {}))->plan.ripe_in_ms);
	EXPECT_FALSE(read_scan_report("{}"));
}

TEST(GuardJournal, WhatIsMissingIsSaidOnce)
{
	GuardJournal journal("/proc/no-such-folder/guard.json", "release");
	testing::internal::CaptureStderr();
	for (int i = 0; i < 3; i++) {
		journal.note("no BPF");
		journal.save();
	}
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
	EXPECT_NE(said.find("no BPF\n"), std::string::npos) << said;
	EXPECT_NE(said.find("cannot count what the guard does\n"), std::string::npos) << said;
}

TEST(Journal, ValuesMayHoldAnyByte)
{
	EXPECT_EQ(journal_entry(Level::notice, "a\nb", {{"RXSTALL_UNIT", std::string("\0", 1)}}),
		  std::string("PRIORITY=5\nSYSLOG_IDENTIFIER=rxstall\n"
			      "MESSAGE\n\3\0\0\0\0\0\0\0a\nb\n"
			      "RXSTALL_UNIT\n\1\0\0\0\0\0\0\0\0\n", 37 + 8 + 8 + 4 + 13 + 8 + 2));
}
