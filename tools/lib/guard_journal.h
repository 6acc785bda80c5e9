/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guard tells: lines for the journal, its state to systemd, and the
 * counters of guard_state.h in a file for `rxstall metrics`.
 */
#pragma once

#include <set>
#include <string>
#include <vector>

#include "facts.h"
#include "guard_state.h"
#include "service.h"

namespace rxstall {

class GuardJournal {
public:
	/* Makes the folder of the state file if it can. mode as in GuardState. */
	GuardJournal(std::string state_file, std::string mode);

	void say(Level level, const std::string &text, const Fields &fields = {}) const
	{
		log_.say(level, text, fields);
	}

	/* What is missing or did not work: said once, however often it is found again. */
	void note(const std::string &text);

	/* What was done to these sockets: a line for each process and port, not for each socket. */
	void tell(const std::string &what, const std::vector<Socket> &sockets) const;

	/* The counters. Whoever changes them calls save(). */
	GuardState &state() { return state_; }
	void save();
	/* The file goes when the guard ends in order. */
	void remove() const;

	const Notify &systemd() const { return notify_; }

private:
	const std::string state_file_;
	const Notify notify_;
	const Log log_;
	GuardState state_;
	std::set<std::string> said_;
};

} // namespace rxstall
