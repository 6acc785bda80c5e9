// SPDX-License-Identifier: GPL-2.0
#include "glance.h"

#include <cerrno>
#include <cstring>

#include "knob.h"
#include "proc.h"
#include "proc_parse.h"
#include "sockdiag.h"

namespace rxstall {

namespace {

constexpr uint32_t close_wait = 1u << static_cast<unsigned>(State::close_wait);
constexpr int recommended = 2;

std::optional<InNetns> enter(const std::string &path, std::vector<std::string> &notes)
{
	auto there = InNetns::enter(path);
	if (there)
		return std::move(*there);
	/* it may end between the list and here */
	if (there.error().code != ENOENT && there.error().code != ESRCH)
		notes.push_back("network namespaces of others cannot be entered (CAP_SYS_ADMIN): " +
				std::string(strerrordesc_np(there.error().code)));
	return std::nullopt;
}

SockstatTcp sockstat(const char *file)
{
	return parse_sockstat(read_file(std::string("/proc/thread-self/net/") + file).value_or(""));
}

} // namespace

Glance::Glance(const Filter &filter, uint64_t min_age_ms) : filter_(filter)
{
	filter_.states = close_wait;
	filter_.pid.reset();
	filter_.min_age_ms = min_age_ms;
}

std::vector<NetnsPath> Glance::list(NetnsSearch search) const
{
	auto found = list_netns(search);
	if (filter_.netns)
		std::erase_if(found, [&](const NetnsPath &entry) {
			return entry.netns.inode != *filter_.netns;
		});
	return found;
}

Look Glance::look(std::vector<std::string> &notes)
{
	Look look;
	uint64_t alloc = 0, inuse = 0;
	for (const NetnsPath &entry : list(NetnsSearch::processes)) {
		auto there = enter(entry.path, notes);
		if (!there)
			continue;
		const SockstatTcp four = sockstat("sockstat");
		alloc = four.alloc;	/* of the whole host, in every namespace */
		inuse += four.inuse + sockstat("sockstat6").inuse;
		auto dumped = dump_sockets(close_wait, Detail::memory, [&](const DiagSocket &found) {
			look.waiting += matches(filter_, found.socket) &&
					classify(found.socket) == Class::fin_only;
		});
		if (!dumped)
			notes.push_back(dumped.error().text);
	}
	look.closed = alloc > inuse ? alloc - inuse : 0;
	return look;
}

uint64_t Glance::set_purge(std::vector<std::string> &notes)
{
	uint64_t set = 0;
	std::set<uint32_t> present;
	for (const NetnsPath &entry : list(NetnsSearch::threads)) {
		present.insert(entry.netns.inode);
		if (visited_.contains(entry.netns.inode))
			continue;
		auto there = enter(entry.path, notes);
		if (!there)
			continue;
		visited_.insert(entry.netns.inode);
		if (read_purge() != 0)
			continue;
		auto file = open_purge();
		auto written = file ? write_purge(file->get(), recommended)
				    : Result<void>(tl::unexpected(file.error()));
		if (written)
			set++;
		else
			notes.push_back(written.error().text);
	}
	/* inode numbers come again */
	std::erase_if(visited_, [&](uint32_t inode) { return !present.contains(inode); });
	return set;
}

} // namespace rxstall
