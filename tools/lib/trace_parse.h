/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events as text, as trace_pipe prints them with the option
 * "nocontext-info": name and fields, without the process name and so
 * without foreign bytes in front.
 */
#pragma once

#include <optional>
#include <string_view>

#include "facts.h"

namespace rxstall {

/*
 * page_pool_release and page_pool_release_stalled. at is when the line was
 * read, in seconds of CLOCK_BOOTTIME. page_pool_release has no age, but its
 * cnt counts the attempts to free the pool, one a second.
 */
[[nodiscard]] std::optional<PoolReport> parse_pool_event(std::string_view line, double at);

struct StateChange {
	Family family = Family::ipv4;
	Endpoint local;
	Endpoint peer;
	State from = State::close;
	State to = State::close;
};

/* sock:inet_sock_set_state, of TCP only. */
[[nodiscard]] std::optional<StateChange> parse_state_event(std::string_view line);

} // namespace rxstall
