/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A snapshot as Prometheus text, for the scrape or for node_exporter's
 * textfile collector. Every label has a short, fixed list of values, so the
 * number of series does not depend on what happens on the host.
 */
#pragma once

#include <map>
#include <optional>
#include <string>

#include "facts.h"
#include "guard_state.h"

namespace rxstall {

struct MetricsInput {
	Snapshot snapshot;
	double duration_s = 0;				/* that the scan took */
	std::map<int, uint64_t> descriptor_limits;	/* by pid; empty: not known */
	std::optional<GuardState> guard;		/* of a guard that runs */
};

/*
 * Text of the exposition format, without timestamps. Every family is there
 * every time, with 0 where nothing was found: an alert must be able to tell
 * "none" from "not looked". Pools with a negative count are counted, never
 * summed.
 */
[[nodiscard]] std::string metrics_text(const MetricsInput &input);

} // namespace rxstall
