// SPDX-License-Identifier: GPL-2.0
/*
 * What running a program costs, as wait4(2) tells.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Cost {
	std::int64_t wall_ns = 0;
	std::int64_t cpu_ns = 0;	/**< user and system together */
	std::int64_t peak_kib = 0;	/**< largest resident set */
};

/**
 * Runs @words, found in PATH, with its output thrown away, in the calling
 * thread's namespaces, and waits for its end. Throws std::runtime_error if it
 * cannot be started or fails.
 */
Cost cost_of(const std::vector<std::string> &words);

/**
 * The main() of a program that is called as @name [--quick] RXSTALL: @measure with
 * the path and whether it is to be quick. Exit status: 0, 1 if it throws, 2 for
 * other arguments.
 */
int measure_program(const char *name,
		    void (*measure)(const std::string &rxstall, bool quick),
		    int argc, char **argv);

} // namespace bench
