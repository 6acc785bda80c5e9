/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter words of ss's command line, as far as they concern TCP:
 * state X, sport, dport, src, dst, joined by "and".
 */
#pragma once

#include <string>
#include <vector>

#include "judge.h"
#include "result.h"

namespace rxstall {

/*
 * Adds what the words say to a filter. Accepted, in any order:
 *   state NAME        a name of ss, "connected", "dead" or "all"
 *   sport [OP] [:]N   OP is =, ==, eq, != or ne
 *   dport [OP] [:]N
 *   src [OP] ADDRESS[/BITS][:PORT]     IPv6 in brackets if a port follows
 *   dst [OP] ADDRESS[/BITS][:PORT]     OP is =, == or eq
 *   and               between any two
 */
[[nodiscard]] Result<Filter> parse_filter(Filter filter, const std::vector<std::string> &words);

/* A state's name, or a set's, as a mask of 1 << state. */
[[nodiscard]] Result<uint32_t> parse_state(const std::string &word);

} // namespace rxstall
