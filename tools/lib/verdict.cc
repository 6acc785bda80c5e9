// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

#include <algorithm>
#include <fmt/format.h>

#include "judge.h"
#include "pools.h"
#include "text.h"

namespace rxstall {

namespace {

struct Found {
	Sums dead;
	size_t payload = 0;
	size_t pools = 0;
	uint64_t oldest_s = 0;
};

Found survey(const Snapshot &snapshot)
{
	Found found;
	std::vector<Socket> dead;
	for (const Socket &socket : snapshot.sockets) {
		if (!matches({}, socket))
			continue;
		dead.push_back(socket);
		found.payload += classify(socket) == Class::payload;
	}
	found.dead = sum(dead);
	for (const PoolView &pool : merge_pools(snapshot)) {
		if (!pool.detached || pool.inflight == 0 || pool.trend == Trend::freed)
			continue;
		found.pools++;
		found.oldest_s = std::max(found.oldest_s, pool.stalled_s.value_or(0));
	}
	return found;
}

std::string held(const Found &found)
{
	if (!found.dead.sockets && !found.pools)
		return "Nothing is held: no dead socket with receive memory, no stalled page pool.";
	std::string text = fmt::format("{} with {} of receive memory", plural(found.dead.sockets, "dead socket"),
				       human_bytes(found.dead.rmem));
	if (found.payload)
		text += fmt::format(" ({} with unread payload)", found.payload);
	if (found.pools)
		text += fmt::format("; {}, the oldest for {}", plural(found.pools, "stalled page pool"),
				    human_span(found.oldest_s * 1000));
	return text + ".";
}

std::string prevention(const Snapshot &snapshot)
{
	size_t with = 0, on = 0;
	for (const Netns &netns : snapshot.namespaces) {
		with += netns.purge.has_value();
		on += netns.purge.value_or(0) > 0;
	}
	if (!with)
		return "This kernel cannot free such queues by itself: it has no tcp_purge_receive_queue.";
	return fmt::format("tcp_purge_receive_queue is on in {} of {}.", on, plural(with, "network namespace"));
}

std::string next_step(const Snapshot &snapshot, const Found &found)
{
	const bool knob = std::any_of(snapshot.namespaces.begin(), snapshot.namespaces.end(),
				      [](const Netns &netns) { return netns.purge.has_value(); });
	const bool off = std::any_of(snapshot.namespaces.begin(), snapshot.namespaces.end(),
				     [](const Netns &netns) { return netns.purge == 0; });

	if (found.dead.sockets && found.payload < found.dead.sockets)
		return "Next: `rxstall release` shows what can be freed without loss; add --apply to do it.";
	if (found.payload)
		return "Next: the applications named by `rxstall sockets` should read or close; "
		       "`rxstall release --discard-unread` would drop their data.";
	if (found.pools)
		return "Next: `rxstall pools` names who may hold the pages; if nobody does, look at the driver.";
	if (knob && off)
		return "Next: `rxstall sysctl 2 --all` keeps it so, without loss.";
	return "Next: nothing to do.";
}

} // namespace

std::array<std::string, 3> verdict(const Snapshot &snapshot)
{
	const Found found = survey(snapshot);
	return {held(found), prevention(snapshot), next_step(snapshot, found)};
}

} // namespace rxstall
