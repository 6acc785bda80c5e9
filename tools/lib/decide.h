/* SPDX-License-Identifier: GPL-2.0 */
/*
 * May a socket's receive memory be released, and by which call? A pure
 * function over the facts; release.cc asks it twice, once for the plan and
 * once on the borrowed descriptor's fresh facts.
 */
#pragma once

#include <string>

#include "facts.h"

namespace rxstall {

/* What the user has explicitly allowed. */
struct Permit {
	bool discard_unread = false;
	bool reset = false;
};

enum class Action : uint8_t {
	leave,		/* do nothing, for the reason given */
	receive,	/* zero-length recv(): only a FIN is freed */
	discard,	/* recv() with MSG_TRUNC of the unread bytes, then as above */
	reset,		/* connect(AF_UNSPEC): frees all queues */
};

struct Decision {
	Action action = Action::leave;
	std::string text;	/* why not, or what the application will see */
};

/*
 * The socket must have passed a filter. self is our own process: neither it
 * nor PID 1 is ever touched.
 */
[[nodiscard]] Decision decide(const Socket &socket, const Permit &permit, int self);

} // namespace rxstall
