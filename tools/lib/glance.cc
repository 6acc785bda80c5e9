// SPDX-License-Identifier: GPL-2.0
#include "glance.h"

#include <cerrno>
#include <cstring>
#include <set>

#include "knob.h"
#include "proc.h"
#include "proc_parse.h"
#include "sockdiag.h"

namespace rxstall {

namespace {

constexpr uint32_t close_wait = 1u << static_cast<unsigned>(State::close_wait);
constexpr int recommended = 2;

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

std::optional<InNetns> Glance::enter(const NetnsPath &place, std::vector<std::string> &notes)
{
	auto there = InNetns::enter(place);
	if (there)
		return std::move(*there);
	/* it may have ended since the list was made */
	if (there.error().code == ENOENT || there.error().code == ESRCH)
		gone_ = true;
	else
		notes.push_back("network namespaces of others cannot be entered (CAP_SYS_ADMIN): " +
				std::string(strerrordesc_np(there.error().code)));
	return std::nullopt;
}

void Glance::find() { found_ = list(NetnsSearch::processes); }

uint64_t Glance::closed(std::vector<std::string> &notes)
{
	for (bool again : {false, true}) {
		uint64_t alloc = 0, inuse = 0;
		gone_ = false;
		for (const NetnsPath &entry : found_) {
			auto there = enter(entry, notes);
			if (!there)
				continue;
			const SockstatTcp four = sockstat("sockstat");
			alloc = four.alloc;	/* of the whole host, in every namespace */
			inuse += four.inuse + sockstat("sockstat6").inuse;
		}
		if (again || !gone_)
			return alloc > inuse ? alloc - inuse : 0;
		find();
		if (found_.empty() && !filter_.netns)
			notes.emplace_back("no network namespace is to be seen: /proc is lost");
	}
	return 0;
}

uint64_t Glance::waiting(std::vector<std::string> &notes)
{
	uint64_t count = 0;
	Filter here = filter_;
	here.netns.reset();	/* list() saw to it; sock_diag does not say it */
	for (const NetnsPath &entry : found_) {
		auto there = enter(entry, notes);
		/* each dump walks through the sockets of all namespaces, so none without need */
		if (!there || sockstat("sockstat").inuse + sockstat("sockstat6").inuse == 0)
			continue;
		auto dumped = dump_sockets(close_wait, Detail::memory, [&](const DiagSocket &found) {
			count += matches(here, found.socket) && classify(found.socket) == Class::fin_only;
		});
		if (!dumped)
			notes.push_back(dumped.error().text);
	}
	return count;
}

uint64_t Glance::set_purge(std::vector<std::string> &notes)
{
	uint64_t set = 0;
	std::set<uint32_t> present;
	for (const NetnsPath &entry : list(NetnsSearch::threads)) {
		present.insert(entry.netns.inode);
		auto there = enter(entry, notes);
		const uint64_t cookie = there ? netns_cookie() : 0;
		/* inode numbers come again at once, cookies never */
		if (!cookie || !visited_.try_emplace(cookie, entry.netns.inode).second || read_purge() != 0)
			continue;
		auto file = open_purge();
		auto written = file ? write_purge(file->get(), recommended)
				    : Result<void>(tl::unexpected(file.error()));
		if (written)
			set++;
		else
			notes.push_back(written.error().text);
	}
	std::erase_if(visited_, [&](const auto &entry) { return !present.contains(entry.second); });
	return set;
}

} // namespace rxstall
