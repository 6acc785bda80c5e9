/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verdict on a host in three lines: is something held now, would the
 * kernel prevent it, what to do next. A pure function over the facts.
 */
#pragma once

#include <array>
#include <string>

#include "facts.h"

namespace rxstall {

/* Held memory, prevention, next step; one line of raw text each. */
[[nodiscard]] std::array<std::string, 3> verdict(const Snapshot &snapshot);

} // namespace rxstall
