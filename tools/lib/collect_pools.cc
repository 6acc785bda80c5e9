// SPDX-License-Identifier: GPL-2.0
#include "collect_pools.h"

#include <cerrno>
#include <poll.h>

#include "collect.h"
#include "klog.h"
#include "netdev.h"
#include "netns.h"
#include "stop.h"
#include "trace.h"
#include "trace_parse.h"

namespace rxstall {

namespace {

void listen_for_events(Snapshot &snapshot, double seconds)
{
	/* a signal ends the listening, not the program: the instance must go */
	Stop stop;
	auto trace = Trace::open();
	if (!trace) {
		snapshot.notes.push_back(trace.error().text +
					 ": pools that netlink does not list show only once the kernel "
					 "log names them, after 60 s");
		return;
	}
	const bool release = trace->enable("page_pool", "page_pool_release");
	const bool stalled = trace->enable("page_pool", "page_pool_release_stalled");
	if (!release && !stalled) {
		snapshot.notes.emplace_back("no page_pool events in this kernel (CONFIG_PAGE_POOL)");
		return;
	}

	const double end = boot_seconds() + seconds;
	for (double now; (now = boot_seconds()) < end;) {
		pollfd entries[] = {{trace->fd(), POLLIN, 0}, {stop.fd(), POLLIN, 0}};
		poll(entries, 2, static_cast<int>((end - now) * 1000) + 1);
		if (entries[1].revents)
			break;
		for (const std::string &line : trace->read_lines())
			if (auto report = parse_pool_event(line, boot_seconds()))
				snapshot.reports.push_back(std::move(*report));
	}
	snapshot.listened = seconds;
}

} // namespace

std::vector<Pool> list_all_pools(std::vector<std::string> &notes)
{
	std::vector<Pool> pools;
	bool noted = false;
	for (const NetnsPath &entry : list_netns(NetnsSearch::processes)) {
		auto there = InNetns::enter(entry.path);
		if (!there)
			continue;
		auto listed = list_pools();
		if (listed) {
			for (Pool &pool : *listed) {
				pool.netns = entry.netns.inode;
				pools.push_back(std::move(pool));
			}
		} else if (!noted) {
			noted = true;
			notes.push_back(listed.error().text + ": the netdev family lists pools with "
					"their device and age on Linux 6.8 and later");
		}
	}
	return pools;
}

void collect_pools(Snapshot &snapshot, double listen)
{
	/* those that pages in receive queues led to are there already */
	for (Pool &pool : list_all_pools(snapshot.notes))
		snapshot.pools.push_back(std::move(pool));

	auto klog = Klog::open();
	if (klog)
		snapshot.reports = klog->read_new();
	else
		snapshot.notes.push_back(klog.error().text + ": the log's warnings about pools are missing "
					 "(CAP_SYSLOG)");
	if (listen > 0)
		listen_for_events(snapshot, listen);
	snapshot.boottime = boot_seconds();
}

} // namespace rxstall
