/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a service says to systemd: its state and life signs (sd_notify(3)),
 * and lines with fields for the journal. Both protocols are a datagram
 * to a socket; where nobody listens, the state is kept to ourselves and
 * the lines go to standard error.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fd.h"

namespace rxstall {

class Notify {
public:
	/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. */
	Notify();

	/* Lines such as "READY=1". */
	void say(const std::string &text) const;

	/* Seconds between two life signs that systemd wants, halved; 0: none wanted. */
	double alive_every() const { return alive_every_; }

private:
	Fd fd_;
	double alive_every_ = 0;
};

/* sd-daemon(3)'s priorities, as the journal numbers them. */
enum class Level : int { warning = 4, notice = 5, info = 6 };

using Fields = std::vector<std::pair<std::string, std::string>>;

/*
 * One entry of the journal's native protocol. Values may be any bytes; a name
 * must be upper-case letters, digits and underscores.
 */
[[nodiscard]] std::string journal_entry(Level level, const std::string &message, const Fields &fields);

class Log {
public:
	/* Opens the journal if standard error is connected to it (JOURNAL_STREAM). */
	Log();

	/* The message is escaped on standard error only: the journal keeps bytes as they are. */
	void say(Level level, const std::string &message, const Fields &fields = {}) const;

private:
	Fd journal_;
};

} // namespace rxstall
