/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be told of all network namespaces without touching a descriptor: by
 * counters, which costs next to nothing, and by a dump of the CLOSE_WAIT
 * sockets, which walks the kernel's table of all sockets once for each
 * namespace. And, on a kernel with the patch, the sysctl in each of them.
 */
#pragma once

#include <map>
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

	/* Which namespaces there are. It reads all of /proc; the rest uses the latest list. */
	void find();

	/*
	 * TCP sockets in no hash table: in CLOSE, dead or new. Too many if there is a
	 * namespace that find() has not seen, never too few for that. What could not
	 * be entered is added to notes.
	 */
	uint64_t closed(std::vector<std::string> &notes);

	/* FIN-only sockets in CLOSE_WAIT, old enough. What could not be dumped is added to notes. */
	uint64_t waiting(std::vector<std::string> &notes);

	/*
	 * Sets tcp_purge_receive_queue to 2 in every namespace that has not been
	 * visited yet and where it is 0; how many. One that somebody changes
	 * afterwards, or had set to 1, keeps its value.
	 */
	uint64_t set_purge(std::vector<std::string> &notes);

private:
	std::vector<NetnsPath> list(NetnsSearch search) const;

	std::optional<InNetns> enter(const NetnsPath &place, std::vector<std::string> &notes);

	Filter filter_;
	bool gone_ = false;	/* a namespace of found_ was no longer where it was */
	std::vector<NetnsPath> found_;
	std::map<uint64_t, uint32_t> visited_;	/* cookies, and the inode numbers that went with them */
};

} // namespace rxstall
