// SPDX-License-Identifier: GPL-2.0
/*
 * Plays a script and judges it. A script that races is judged by what may have
 * happened, any other by what must have.
 */
#pragma once

#include "storm_line.h"

namespace storm {

/** How often something happened, to show that the storm gets everywhere. */
struct Tally {
	std::uint64_t sequences = 0;
	std::uint64_t racing = 0;
	std::uint64_t resets = 0;	/**< accepted, in any state */
	std::uint64_t purged = 0;	/**< queues freed */
	std::uint64_t unread = 0;	/**< of these, with payload unread */
	std::uint64_t kept = 0;		/**< queues found in CLOSE_WAIT and kept */
	std::uint64_t accept_queue = 0;	/**< purged before accept() */
	bool may_purge = false;		/**< racing: one way or the other */

	Tally &operator+=(const Tally &other);
};

/**
 * Plays @script on @bench. Throws Unmet, with the step that failed in its text,
 * if what the kernel does is not what the contract says.
 */
Tally play(Bench &bench, const Script &script);

/** The steps of @script in words, for the report. */
std::vector<std::string> describe(const Script &script);

} // namespace storm
