/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard's acting: releases what a scan planned, within the limit a minute,
 * and counts and tells it. A dry run only tells.
 */
#pragma once

#include <vector>

#include "guard_journal.h"
#include "guard_judge.h"
#include "stop.h"

namespace rxstall {

class GuardRelease {
public:
	/* limit: sockets a minute. The journal must live longer. */
	GuardRelease(GuardJournal &journal, unsigned limit, bool dry_run)
		: journal_(journal), rate_(limit), dry_run_(dry_run)
	{
	}

	/* How many sockets may be released now; forgets tries of long ago. */
	[[nodiscard]] unsigned room(double now);

	/* Seconds until there is room again. */
	[[nodiscard]] double wait(double now) const { return rate_.wait(now); }

	const Tried &tried() const { return tried_; }

	/*
	 * Releases the sockets of a plan, until a signal comes. Returns how many of
	 * those that hold nothing any more are in CLOSE_WAIT: 0 in a dry run.
	 */
	uint64_t release(std::vector<Socket> sockets, const Stop &stop);

private:
	GuardJournal &journal_;
	Rate rate_;
	Tried tried_;
	const bool dry_run_;
};

} // namespace rxstall
