// SPDX-License-Identifier: GPL-2.0
#include "follow.h"

#include <algorithm>

#include "judge.h"

namespace rxstall {

namespace {

std::string key_of(const PoolReport &report)
{
	/* the address is in both events, the id in the log and one event */
	if (!report.address.empty())
		return report.address;
	if (report.id)
		return "#" + std::to_string(*report.id);
	return "?" + std::to_string(static_cast<int64_t>(report.at) -
				    static_cast<int64_t>(report.stalled_s.value_or(0)) / 4 * 4);
}

uint64_t seconds_between(double from, double to)
{
	return static_cast<uint64_t>(std::max(0.0, to - from) + 0.5);
}

} // namespace

std::optional<PoolLine> PoolFollower::see(const PoolReport &report)
{
	const std::string key = key_of(report);
	auto found = pools_.find(key);

	if (found == pools_.end()) {
		if (report.inflight == 0)
			return std::nullopt;	/* destroyed without a stall */
		const auto age = static_cast<double>(report.stalled_s.value_or(0));
		/* the log warns after 60 s, and we may start in the middle of a stall */
		const bool tell = age > 1;
		pools_[key] = {report.inflight, report.at - age, tell};
		if (!tell)
			return std::nullopt;
		return PoolLine{PoolNews::stalled, report, 0, static_cast<uint64_t>(age)};
	}

	Seen &seen = found->second;
	const int64_t before = seen.inflight;
	const uint64_t stalled = seconds_between(seen.began, report.at);
	if (report.inflight == 0) {
		const bool told = seen.told;
		pools_.erase(found);
		if (!told)
			return std::nullopt;
		return PoolLine{PoolNews::released, report, before, stalled};
	}

	seen.inflight = report.inflight;
	if (!seen.told) {
		seen.told = true;
		return PoolLine{PoolNews::stalled, report, before, stalled};
	}
	if (report.inflight == before)
		return std::nullopt;
	return PoolLine{PoolNews::changed, report, before, stalled};
}

void SocketFollower::see(const StateChange &change)
{
	if (change.to == State::close)
		deaths_.insert({endpoint_text(change.local, change.family),
				endpoint_text(change.peer, change.family)});
}

std::vector<Socket> SocketFollower::take(const std::vector<Socket> &scanned)
{
	std::vector<Socket> news;
	std::set<std::pair<uint32_t, uint64_t>> present;
	for (const Socket &socket : scanned) {
		const std::pair id{socket.netns, socket.inode};
		present.insert(id);
		if (socket.state != State::close || socket.rmem == 0 || told_.contains(id))
			continue;
		if (deaths_.contains({endpoint_text(socket.local, socket.family),
				      endpoint_text(socket.peer, socket.family)})) {
			told_.insert(id);
			news.push_back(socket);
		}
	}
	deaths_.clear();
	/* inode numbers come again; and the set must not grow for ever */
	std::erase_if(told_, [&](const auto &id) { return !present.contains(id); });
	return news;
}

} // namespace rxstall
