// SPDX-License-Identifier: GPL-2.0
/*
 * The figures that the measuring programs have printed, and the table that is made
 * of each kind.
 */
#pragma once

#include <string>
#include <vector>

#include "bench/report/table.h"

namespace bench {

/** One object a line, as the programs print them. */
using Records = std::vector<Json>;

/** Those of @records in which each key of @wanted has its value. */
Records matching(const Records &records, const Json &wanted);

/** The values of @key in order, each once. */
std::vector<Json> values_of(const Records &records, const std::string &key);

/**
 * The columns of a comparison that @records have: stock, 0, 1, 2, each only if it
 * was measured.
 */
std::vector<std::string> settings_of(const Records &records);

/** "stock" or "patched, 0". */
std::string title_of(const std::string &setting);

/* Each takes all records and throws nlohmann::json::exception if some it needs
 * are missing. */
Table cost_table(const Records &records);
Table held_table(const Records &records);
Table freedom_table(const Records &records);
Table log_table(const Records &records);
Table scan_table(const Records &records);
Table release_table(const Records &records);

} // namespace bench
