// SPDX-License-Identifier: GPL-2.0
#include "guard_judge.h"

#include <algorithm>

#include "decide.h"

namespace rxstall {

namespace {

constexpr double minute = 60;
constexpr double hour = 3600;

} // namespace

double spacing(double cost, double share, double floor)
{
	return std::max(floor, cost / share);
}

bool Trigger::due(const Look &look, double now)
{
	seen_ = look;
	known_.closed = std::min(known_.closed, look.closed);
	known_.waiting = std::min(known_.waiting, look.waiting);
	if (!last_ || now - *last_ >= longest_)
		return true;
	if (now - *last_ < spacing_)
		return false;
	return look.closed > known_.closed || look.waiting > known_.waiting || look.pool_stalled ||
	       (ripe_at_ && now >= *ripe_at_);
}

void Trigger::freed(uint64_t waiting)
{
	seen_.waiting -= std::min(seen_.waiting, waiting);
}

void Trigger::scanned(size_t found, std::optional<double> ripe_in, double cost, double now)
{
	const bool fruitless = found == 0 && !ripe_in;
	longest_ = spacing(cost, share_, rescan_);
	spacing_ = fruitless ? std::min(longest_, std::max(2 * spacing_, floor_)) : floor_;
	last_ = now;
	ripe_at_.reset();
	if (ripe_in)
		ripe_at_ = now + *ripe_in;
	known_ = seen_;
}

unsigned Rate::left(double now)
{
	if (now - begin_ >= minute) {
		begin_ = now;
		taken_ = 0;
	}
	return limit_ > taken_ ? limit_ - taken_ : 0;
}

double Rate::wait(double now) const
{
	return limit_ > taken_ ? 0 : std::max(0.0, begin_ + minute - now);
}

void Tried::forget_old(double now)
{
	std::erase_if(when_, [now](const auto &entry) { return now - entry.second >= hour; });
}

Plan plan_release(const std::vector<Socket> &sockets, Filter filter, uint64_t min_age_ms,
		  const Tried &tried, size_t limit, int self)
{
	filter.min_age_ms.reset();
	Plan plan;
	for (const Socket &socket : sockets) {
		if (!matches(filter, socket) || tried.contains(socket) || !socket.age_ms ||
		    decide(socket, {}, self).action != Action::receive)
			continue;
		if (*socket.age_ms >= min_age_ms) {
			plan.sockets.push_back(socket);
			continue;
		}
		const uint64_t wait = min_age_ms - *socket.age_ms;
		plan.ripe_in_ms = std::min(plan.ripe_in_ms.value_or(wait), wait);
	}
	std::stable_sort(plan.sockets.begin(), plan.sockets.end(), [](const Socket &a, const Socket &b) {
		return *a.age_ms > *b.age_ms;
	});
	if (plan.sockets.size() > limit) {
		plan.left_over = plan.sockets.size() - limit;
		plan.sockets.resize(limit);
	}
	return plan;
}

} // namespace rxstall
