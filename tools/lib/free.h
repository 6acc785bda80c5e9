/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freeing what a dead socket holds, through a borrowed descriptor. The only
 * part of the program besides sysctl.cc that changes anything.
 */
#pragma once

#include "decide.h"
#include "facts.h"

namespace rxstall {

struct Freed {
	Action action = Action::leave;	/* what was done in the end */
	uint32_t before = 0;		/* bytes of receive memory */
	uint32_t after = 0;
	bool failed = false;		/* wanted, but it did not come about */
	std::string text;		/* why not, or what the application will see */
};

/*
 * Borrows the planned socket's descriptor, proves that it is still the same
 * socket (inode, cookie), judges its present facts, and acts on the CPU that
 * received its segments. Afterwards rmem tells whether it worked.
 */
[[nodiscard]] Freed free_socket(const Socket &planned, const Permit &permit);

/*
 * Makes every CPU we may run on empty its list of segments whose freeing was
 * deferred (net/core/skbuff.c: skb_attempt_defer_free): recv() puts a segment
 * on the list of the CPU that allocated it, and an idle CPU leaves it there.
 * Sends one loopback datagram a CPU. False if loopback cannot be used.
 */
bool kick_deferred();

} // namespace rxstall
