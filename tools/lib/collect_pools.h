/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collecting page pools: what the netdev family lists in every namespace,
 * what the kernel log says, and what the events tell while we listen.
 */
#pragma once

#include "facts.h"

namespace rxstall {

/* Adds pools, reports and notes to the snapshot; listens for that many seconds. */
void collect_pools(Snapshot &snapshot, double listen);

/* The listed pools of all namespaces that can be entered; notes what is missing. */
[[nodiscard]] std::vector<Pool> list_all_pools(std::vector<std::string> &notes);

} // namespace rxstall
