/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs share on the command line: the options of ss that select
 * and print, the saved snapshot, and the way usage errors end.
 */
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/collect.h"
#include "lib/judge.h"
#include "lib/result.h"
#include "lib/table.h"

namespace rxstall {

enum Exit : int { exit_done = 0, exit_failure = 1, exit_usage = 2 };

/* Thrown for a wrong command line; main() prints it and exits with exit_usage. */
struct Usage {
	std::string text;
};

struct Output {
	bool json = false;
	bool pretty = false;
	bool no_header = false;

	/* Style of tables on standard output. */
	Style style() const;
};

struct Selection {
	bool ipv4 = false;
	bool ipv6 = false;
	std::string netns;	/* a name under /run/netns or a number */
	std::string min_age;
	std::string state;
	std::optional<int> pid;
	std::vector<std::string> words;

	/* The filter they make together; throws Usage. */
	Filter filter() const;
};

void add_output_options(CLI::App &app, Output &output);
void add_selection_options(CLI::App &app, Selection &selection);

/* The inode number of a namespace by its name or number; throws Usage. */
uint32_t netns_number(const std::string &word);

/* Adds --method bpf|walk. */
void add_method_option(CLI::App &app, std::string &method);

/* Adds --from FILE. */
void add_from_option(CLI::App &app, std::string &file);

/*
 * Parses argv. An exit status if the program is to end here (after --help),
 * else nothing; throws Usage for a wrong command line.
 */
std::optional<int> parse(CLI::App &app, int argc, char **argv);

/* A file's snapshot; the error says which file and what is wrong. */
Result<Snapshot> load_snapshot(const std::string &file);

/* load_snapshot() if a file is named, else what collect() finds on this host. */
Result<Snapshot> load_or_collect(const std::string &file, const CollectRequest &request);

/* Prints the notes (what was missing and what it would add) on stderr. */
void print_notes(const Snapshot &snapshot);

/* Writes all of text to standard output; exit_done or, with a message, exit_failure. */
int print(const std::string &text);

/* Prints "rxstall: text" on stderr, escaped, and returns exit_failure. */
int fail(const Error &error);

} // namespace rxstall
