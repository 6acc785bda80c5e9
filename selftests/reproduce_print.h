// SPDX-License-Identifier: GPL-2.0
/*
 * How reproduce shows a report: as text, as one line of a comparison, or as an
 * object of the --json array. Nothing here comes from outside the program, so
 * all of it is printable.
 */
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "reproduce_play.h"

namespace reproduce {

/** The table of cases for --list. */
std::string list_text();

/** The whole report, several lines. */
std::string report_text(const Report &report);

/** "ok fin-rst IPv4 sysctl 0", or "differs ..." and a line a difference. */
std::string check_text(const Report &report);

nlohmann::json report_json(const Report &report);

} // namespace reproduce
