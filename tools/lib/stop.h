/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An orderly end: SIGINT, SIGTERM and SIGHUP, once or many times, become one
 * fact that a loop can wait for, so destructors run on every way out.
 */
#pragma once

#include "fd.h"

namespace rxstall {

class [[nodiscard]] Stop {
public:
	/* Blocks the signals; they stay blocked. */
	Stop();

	/* For poll(2): readable from the first signal on. */
	int fd() const { return fd_.get(); }

	/* True as soon as a signal has come; false after that many milliseconds. */
	bool wait(int milliseconds) const;

	/* Has a signal come? For work that goes without a Stop, too. */
	static bool requested(const Stop *stop) { return stop && stop->wait(0); }

private:
	Fd fd_;
};

} // namespace rxstall
