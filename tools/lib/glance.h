/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cheap look at all network namespaces: counters and one dump of the
 * CLOSE_WAIT sockets, without touching a descriptor. And, on a kernel with
 * the patch, the sysctl in each of them.
 */
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "guard_judge.h"
#include "netns.h"
#include "result.h"

namespace rxstall {

class Glance {
public:
	/* filter: which namespaces and sockets count; its state and process do not. */
	Glance(const Filter &filter, uint64_t min_age_ms);

	/*
	 * Counters and CLOSE_WAIT sockets of every namespace. What could not be
	 * entered or dumped is added to notes; a namespace that has gone is not.
	 */
	Look look(std::vector<std::string> &notes);

	/*
	 * Sets tcp_purge_receive_queue to 2 in every namespace that has not been
	 * visited yet and where it is 0; how many. One that somebody changes
	 * afterwards, or had set to 1, keeps its value.
	 */
	uint64_t set_purge(std::vector<std::string> &notes);

private:
	std::vector<NetnsPath> list(NetnsSearch search) const;

	Filter filter_;
	std::set<uint32_t> visited_;
};

} // namespace rxstall
