/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard's scan and its report. A child process scans, so that its memory
 * goes with it, and says as text what the guard may release; the guard reads
 * that text.
 */
#pragma once

#include <string>
#include <vector>

#include "guard_judge.h"
#include "result.h"

namespace rxstall {

/* Which sockets the guard is for. */
struct GuardScope {
	Filter filter;
	uint64_t min_age_ms = 60'000;
	std::string method;	/* as in CollectRequest */
};

struct ScanReport {
	Plan plan;
	std::vector<std::string> notes;	/* what could not be had */
};

/*
 * Collects and plans: at most limit sockets, none of those tried, none of the
 * process self. Changes nothing. Errors: a forced method that does not work here.
 */
[[nodiscard]] Result<std::string> scan_report(const GuardScope &scope, const Tried &tried, unsigned limit,
					      int self);

/* The text of a plan, with the facts of its sockets. */
[[nodiscard]] std::string dump_scan_report(Snapshot snapshot, Plan plan);

/* Errors: those of parse_snapshot(). */
[[nodiscard]] Result<ScanReport> read_scan_report(const std::string &text);

} // namespace rxstall
