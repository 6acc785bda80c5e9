/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many descriptors a process may have open: dead sockets that nobody
 * closes end in EMFILE.
 */
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "facts.h"

namespace rxstall {

/* The soft "Max open files" of /proc/PID/limits; nothing if unlimited or absent. */
[[nodiscard]] std::optional<uint64_t> parse_open_files(std::string_view limits);

/* That limit of each process that owns one of the snapshot's dead sockets, by pid. */
[[nodiscard]] std::map<int, uint64_t> descriptor_limits(const Snapshot &snapshot);

} // namespace rxstall
