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

bool same_pool(const Track &track, const PoolReport &report)
{
	if (report.id || track.view.id)
		return report.id == track.view.id;
	if (!report.address.empty() || !track.view.address.empty())
		return report.address == track.view.address;
	/* up to Linux 6.7 a log line has no id: the start of the stall tells pools apart */
	return report.stalled_s && track.began >= 0 &&
	       std::abs(report.at - static_cast<double>(*report.stalled_s) - track.began) < 3;
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

	if (last && !view.listed)
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
	if (!view.listed && (silent || last->inflight == 0))
		view.trend = Trend::freed;
}

} // namespace

std::vector<PoolView> merge_pools(const Snapshot &snapshot)
{
	std::vector<Track> tracks;
	for (const Pool &pool : snapshot.pools) {
		Track track;
		track.view = {pool.id, {}, pool.netns, pool.ifindex, pool.device, pool.driver,
			      pool.napi_id, pool.inflight, pool.inflight_mem, {},
			      Trend::unknown, true, pool.detached_at.has_value()};
		if (pool.detached_at)
			track.view.stalled_s = static_cast<uint64_t>(std::max(
				0.0, snapshot.boottime - static_cast<double>(*pool.detached_at)));
		tracks.push_back(std::move(track));
	}

	for (const PoolReport &report : snapshot.reports) {
		auto track = std::find_if(tracks.begin(), tracks.end(), [&](const Track &t) {
			return same_pool(t, report);
		});
		if (track == tracks.end()) {
			Track fresh;
			fresh.view.id = report.id;
			fresh.view.address = report.address;
			tracks.push_back(std::move(fresh));
			track = std::prev(tracks.end());
		}
		if (report.stalled_s && track->began < 0)
			track->began = report.at - static_cast<double>(*report.stalled_s);
		track->reports.push_back(&report);
	}

	std::vector<PoolView> views;
	for (Track &track : tracks) {
		std::stable_sort(track.reports.begin(), track.reports.end(),
				 [](const PoolReport *a, const PoolReport *b) { return a->at < b->at; });
		finish(track, snapshot);
		views.push_back(std::move(track.view));
	}
	std::stable_sort(views.begin(), views.end(), [](const PoolView &a, const PoolView &b) {
		return a.stalled_s.value_or(0) > b.stalled_s.value_or(0);
	});
	return views;
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
