/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's warning about a stalled page pool, in both its formats, and
 * the records of /dev/kmsg it comes in.
 */
#pragma once

#include <optional>
#include <string_view>

#include "facts.h"

namespace rxstall {

/*
 * The text of one line, without priority and time:
 *   page_pool_release_retry() stalled pool shutdown 1 inflight 60 sec
 *   page_pool_release_retry() stalled pool shutdown: id 4, 21 inflight 60 sec
 * the latter since Linux 6.8. Nothing for any other text.
 */
[[nodiscard]] std::optional<PoolReport> parse_stalled_line(std::string_view text);

/*
 * One record of /dev/kmsg ("priority,number,microseconds,flags;text"). Only
 * the kernel's own are believed: programs can write there too.
 */
[[nodiscard]] std::optional<PoolReport> parse_kmsg_record(std::string_view record);

} // namespace rxstall
