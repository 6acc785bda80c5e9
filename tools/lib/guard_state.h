/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `rxstall guard` has done since it started. It keeps this in a file,
 * from which `rxstall metrics` makes its counters.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "result.h"

namespace rxstall {

struct GuardState {
	std::string mode;		/* "release", "sysctl", "dry-run" */
	int pid = 0;
	uint64_t scans = 0;
	uint64_t released = 0;		/* sockets */
	uint64_t released_bytes = 0;	/* truesize */
	uint64_t failed = 0;		/* sockets that should have been released */
	uint64_t namespaces_set = 0;

	bool operator==(const GuardState &) const = default;
};

/* Where the file is unless an option says otherwise. */
inline constexpr const char *guard_state_file = "/run/rxstall/guard.json";

[[nodiscard]] std::string dump_guard_state(const GuardState &state);

/* Errors: what is wrong with the text, without the file's name. */
[[nodiscard]] Result<GuardState> parse_guard_state(std::string_view text);

} // namespace rxstall
