// SPDX-License-Identifier: GPL-2.0
/*
 * What every measurement in a virtual machine is repeated for: the kernel that is
 * running and, where it has the sysctl, each of its values. Figures leave a program
 * as one JSON object a line, so that the files of several kernels can be put
 * together with cat.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/scenario.h"

namespace bench {

using Json = nlohmann::ordered_json;

struct Setting {
	std::string name;	/**< "stock", "0", "1", "2": a column's title */
	selftest::Purge value;	/**< what to set; without effect on stock */
};

/** What a measuring program was asked for. */
struct Request {
	std::vector<Setting> settings;
	bool quick = false;	/**< few repetitions: shows that it works */
	std::size_t sockets = 100000;	/**< at most, where many are made */
};

/**
 * For main(): measures every setting of the running kernel (stock alone, or the
 * three values), or with "--only NAME" one of them; "--quick" and "--sockets N"
 * are passed on.
 * Returns the exit status: 1, with the reason on standard error, if @measure
 * throws; 2 for wrong usage.
 */
int run(const char *program, void (*measure)(const Request &), int argc,
	char **argv);

/** Prints @record, after "table" and "setting", as one line on standard output. */
void print(const char *table, const Setting &setting, const Json &record);

/**
 * Runs @measure in a process of its own, which takes its sockets and namespaces
 * with it. Throws std::runtime_error if it failed; the reason has been printed.
 */
void in_child(const std::function<void()> &measure);

} // namespace bench
