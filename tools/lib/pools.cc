// SPDX-License-Identifier: GPL-2.0
#include "pools.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "judge.h"
#include "text.h"

namespace rxstall {

namespace {

/* The log repeats a stalled pool every 60 s; after two silent turns it is gone. */
constexpr double log_patience = 130;

struct Track {
	PoolView view;
	std::vector<const PoolReport *> reports;
	double began = -1;	/* when the driver let go, seconds of CLOCK_BOOTTIME */
};

/* Did the stall that is reported begin when this pool's did? */
bool same_start(const Track &track, const PoolReport &report)
{
	if (!report.stalled_s || track.began < 0)
		return false;
	const auto age = static_cast<double>(*report.stalled_s);
	/* an event counts attempts, of which one takes a little more than a second */
	const double tolerance = 3 + (report.source == ReportSource::event ? age / 20 : 0);
	return std::abs(report.at - age - track.began) < tolerance;
}

bool same_pool(const Track &track, const PoolReport &report)
{
	if (report.id && track.view.id)
		return report.id == track.view.id;
	if (!report.address.empty() && !track.view.address.empty())
		return report.address == track.view.address;
	if (report.hold && track.view.hold)
		return report.hold == track.view.hold && same_start(track, report);
	/* an event has no id before the patch, a log line none up to Linux 6.7 */
	return same_start(track, report);
}

/* Several pools may have begun to stall together: the number of pages tells them apart best. */
Track *find_track(std::vector<Track> &tracks, const PoolReport &report)
{
	Track *found = nullptr;
	for (Track &track : tracks) {
		if (!same_pool(track, report))
			continue;
		const bool equal = track.view.inflight == report.inflight;
		if (!found || equal)
			found = &track;
		if (equal)
			break;
	}
	return found;
}

/* A pool that the netdev family lists, to which pages in receive queues led, too. */
Track *find_listed(std::vector<Track> &tracks, const Pool &pool)
{
	for (Track &track : tracks)
		if (pool.id && track.view.id == pool.id)
			return &track;
	return nullptr;
}

void add_pool(std::vector<Track> &tracks, const Pool &pool, double now)
{
	Track *track = find_listed(tracks, pool);
	if (!track) {
		track = &tracks.emplace_back();
		track->view.id = pool.id;
	}
	PoolView &view = track->view;
	if (pool.listed || !view.listed) {
		view.inflight = pool.inflight;
		view.inflight_mem = pool.inflight_mem;
	}
	if (pool.ifindex || !view.ifindex) {
		view.ifindex = pool.ifindex;
		view.netns = pool.netns ? pool.netns : view.netns;
	}
	if (view.device.empty())
		view.device = pool.device;
	if (view.driver.empty())
		view.driver = pool.driver;
	view.napi_id = std::max(view.napi_id, pool.napi_id);
	view.listed |= pool.listed;
	if (pool.key) {
		view.key = pool.key;
		view.hold = pool.hold;
		view.reached = pool.reached;
	}
	if (pool.detached_at && !view.detached) {
		view.detached = true;
		track->began = static_cast<double>(*pool.detached_at);
		view.stalled_s = static_cast<uint64_t>(std::max(0.0, now - track->began));
	}

}

/* Exact if the iterator saw each page's pool: then a pool that has no holder has none. */
void join_holders(PoolView &view, const Snapshot &snapshot)
{
	std::map<std::string, PoolHolder> holders;
	view.exact = snapshot.method == "bpf";
	for (const Socket &socket : snapshot.sockets) {
		view.exact &= socket.pool_pages != Maybe::unknown || socket.rmem == 0;
		view.exact &= !socket.pool_unclear;
		for (const PoolShare &share : socket.shares) {
			if (!view.key || share.pool != view.key)
				continue;
			PoolHolder &holder = holders[owner_text(socket)];
			holder.process = owner_text(socket);
			holder.pid = socket.owners.empty() ? 0 : socket.owners.front().pid;
			holder.sockets++;
			holder.pages += share.pages;
		}
	}
	for (auto &[text, holder] : holders)
		view.holders.push_back(std::move(holder));
	view.exact |= !view.holders.empty();
	std::stable_sort(view.holders.begin(), view.holders.end(),
			 [](const PoolHolder &a, const PoolHolder &b) { return a.pages > b.pages; });
}

Trend trend_of(const std::vector<const PoolReport *> &reports, int64_t now)
{
	if (now < 0)
		return Trend::negative;
	if (reports.empty())
		return Trend::unknown;
	const int64_t first = reports.front()->inflight;
	if (reports.size() == 1 && reports.front()->inflight == now)
		return Trend::unknown;
	if (now == first)
		return Trend::flat;
	return now < first ? Trend::draining : Trend::growing;
}

void finish(Track &track, const Snapshot &snapshot)
{
	PoolView &view = track.view;
	const PoolReport *last = track.reports.empty() ? nullptr : track.reports.back();

	if (last && !view.listed && !view.key)
		view.inflight = last->inflight;
	view.trend = trend_of(track.reports, view.inflight);
	if (!last)
		return;
	view.detached = true;
	if (track.began >= 0 && !view.stalled_s)
		view.stalled_s = static_cast<uint64_t>(
			std::max(0.0, snapshot.boottime - track.began));

	const bool silent = last->source == ReportSource::log &&
			    snapshot.boottime - last->at > log_patience;
	if (!view.listed && !view.key && (silent || last->inflight == 0))
		view.trend = Trend::freed;
}

} // namespace

std::vector<PoolView> merge_pools(const Snapshot &snapshot)
{
	std::vector<Track> tracks;
	for (const Pool &pool : snapshot.pools)
		add_pool(tracks, pool, snapshot.boottime);

	for (const PoolReport &report : snapshot.reports) {
		Track *track = find_track(tracks, report);
		if (!track) {
			track = &tracks.emplace_back();
			track->view.inflight = report.inflight;
		}
		PoolView &view = track->view;
		if (report.id)
			view.id = report.id;
		if (!report.address.empty())
			view.address = report.address;
		if (!view.ifindex)
			view.ifindex = report.ifindex;
		if (report.stalled_s && track->began < 0)
			track->began = report.at - static_cast<double>(*report.stalled_s);
		track->reports.push_back(&report);
	}

	std::vector<PoolView> views;
	for (Track &track : tracks) {
		std::stable_sort(track.reports.begin(), track.reports.end(),
				 [](const PoolReport *a, const PoolReport *b) { return a->at < b->at; });
		finish(track, snapshot);
		join_holders(track.view, snapshot);
		views.push_back(std::move(track.view));
	}
	std::stable_sort(views.begin(), views.end(), [](const PoolView &a, const PoolView &b) {
		return a.stalled_s.value_or(0) > b.stalled_s.value_or(0);
	});
	return views;
}

std::string holders_text(const PoolView &pool)
{
	if (pool.holders.empty())
		return pool.exact ? "no socket: look at the driver" : "not known";
	const PoolHolder &first = pool.holders.front();
	std::string text = fmt::format("{} ({})", first.process, plural(first.sockets, "socket"));
	if (pool.holders.size() > 1)
		text += fmt::format(" +{}", pool.holders.size() - 1);
	/* pages that came back or went out since the scan are no contradiction */
	return text + (pool.inflight < 0 ? "" : fmt::format(", {} of {}", pool.reached,
							     plural(static_cast<uint64_t>(pool.inflight), "page")));
}

PoolView view_of(const Snapshot &snapshot, const PoolReport &report)
{
	Snapshot only = snapshot;
	only.reports = {report};
	for (PoolView &view : merge_pools(only))
		if (view.address == report.address && (!report.id || view.id == report.id))
			return std::move(view);
	return {};
}

void PoolMemory::complete(std::vector<Pool> &pools)
{
	for (Pool &pool : pools) {
		if (!pool.id && !pool.key)
			continue;
		Pool &known = known_[pool.id ? std::pair(*pool.id, true) : std::pair(pool.key, false)];
		if (pool.device.empty())
			pool.device = known.device;
		if (pool.driver.empty())
			pool.driver = known.driver;
		if (!pool.netns)
			pool.netns = known.netns;
		known.device = pool.device;
		known.driver = pool.driver;
		known.netns = pool.netns;
	}
}

std::string holder_guess(const Snapshot &snapshot)
{
	std::vector<Socket> sure, likely;
	for (const Socket &socket : snapshot.sockets) {
		if (!is_over(socket.state) || socket.rmem == 0)
			continue;
		if (socket.pool_pages == Maybe::yes)
			sure.push_back(socket);
		else if (socket.pool_pages == Maybe::unknown)
			likely.push_back(socket);
	}

	const bool known = !sure.empty();
	auto groups = group(known ? sure : likely, {GroupKey::process});
	if (groups.empty())
		return "no dead socket holds page-pool memory: look at the driver";
	return fmt::format("{} {}: {}, {} of receive memory{}",
			   known ? "sockets in page-pool memory (which pool is a guess):"
				 : "guess, the largest holder:",
			   groups.front().keys.front(), plural(groups.front().sums.sockets, "socket"),
			   human_bytes(groups.front().sums.rmem),
			   groups.size() > 1 ? fmt::format(", and {} more", groups.size() - 1) : "");
}

} // namespace rxstall
