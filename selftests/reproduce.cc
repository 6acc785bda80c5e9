// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the states in which connections are found after a peer has gone, in a
 * network namespace of its own, and shows what is left of them. Its cases are
 * the table in reproduce_cases.cc.
 */
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/checked.h"
#include "lib/netns.h"
#include "lib/sysctl.h"
#include "reproduce_play.h"
#include "reproduce_print.h"

namespace {

using namespace reproduce;
using namespace selftest;

constexpr int done = 0;
constexpr int failure = 1;
constexpr int usage = 2;

constexpr int most_sockets = 100000;
constexpr int longest_hold_s = 1000000;
/* Descriptors beside the crowd's: ours, the libraries', the two probes'. */
constexpr rlim_t spare_files = 64;

struct Options {
	std::vector<std::string> names{};
	int count = 0;
	int hold_s = 0;
	int sysctl = -1;
	bool list = false;
	bool json = false;
	bool check = false;
	bool v4 = false;
	bool v6 = false;
	bool mapped = false;
};

void describe(CLI::App &app, Options &options)
{
	app.add_option("CASE", options.names, "Cases to play; all of them without");
	app.add_flag("--list", options.list, "List the cases");
	app.add_option("--count", options.count,
		       "Also make this many sockets of each case")
		->check(CLI::Range(1, most_sockets));
	app.add_option("--hold", options.hold_s,
		       "Keep the sockets this many seconds, for other tools to "
		       "look at; one a case without --count")
		->check(CLI::Range(1, longest_hold_s));
	app.add_option("--sysctl", options.sysctl,
		       "Set net.ipv4.tcp_purge_receive_queue in the namespace")
		->check(CLI::Range(0, 2));
	app.add_flag("--check", options.check,
		     "Only say whether each case ends as it should; status 1 if "
		     "one does not");
	app.add_flag("--json", options.json, "Print one JSON array");
	app.add_flag("-4", options.v4, "IPv4 sockets (the default)");
	app.add_flag("-6", options.v6, "IPv6 sockets");
	app.add_flag("--mapped", options.mapped,
		     "IPv6 sockets that speak to an IPv4 peer");
}

std::vector<Family> families_of(const Options &options)
{
	std::vector<Family> families;

	if (options.v4 || (!options.v6 && !options.mapped))
		families.push_back(Family::v4);
	if (options.v6)
		families.push_back(Family::v6);
	if (options.mapped)
		families.push_back(Family::mapped);
	return families;
}

struct BadUsage : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* Arguments come back in messages: keep control characters off terminals. */
std::string printable(std::string text)
{
	for (char &c : text)
		if (c != '\n' && (c < ' ' || c > '~'))
			c = '?';
	return text;
}

/* The cases named, all when none is. Throws BadUsage. */
std::vector<const Case *> chosen(const std::vector<std::string> &names)
{
	std::vector<const Case *> found;

	for (const Case &one : cases())
		if (names.empty())
			found.push_back(&one);
	for (const std::string &name : names) {
		const auto it = std::find_if(
			cases().begin(), cases().end(),
			[&](const Case &one) { return one.name == name; });

		if (it == cases().end())
			throw BadUsage(fmt::format(
				"no case is called {}: see --list", name));
		found.push_back(&*it);
	}
	return found;
}

void allow_files(rlim_t wanted)
{
	rlimit limit{};

	check(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	if (limit.rlim_cur >= wanted)
		return;

	const rlimit raised{wanted, std::max(limit.rlim_max, wanted)};

	if (::setrlimit(RLIMIT_NOFILE, &raised) == 0)
		return;
	throw std::runtime_error(fmt::format(
		"{} open files are needed and {} are allowed: ask for fewer "
		"sockets, or raise the limit (ulimit -Hn, or sysctl fs.nr_open)",
		wanted, limit.rlim_max));
}

/* Returns the value in force: 0 on a kernel without the sysctl. */
int set_sysctl(int wanted)
{
	if (wanted >= 0) {
		const int error =
			sysctl_write(purge_sysctl, std::to_string(wanted));

		if (error == ENOENT)
			throw std::runtime_error(fmt::format(
				"this kernel has no {}: it lacks the patches",
				purge_sysctl));
		if (error != 0)
			fail(error, std::string(purge_sysctl));
	}
	return std::stoi(sysctl_read(purge_sysctl).value_or("0"));
}

void allow_accept_queues()
{
	/* Both are this namespace's own. Smaller queues only mean drops. */
	(void)sysctl_write("net.core.somaxconn", "65535");
	(void)sysctl_write("net.ipv4.tcp_max_syn_backlog", "65535");
}

void hold(const Options &options, std::size_t sockets)
{
	/* After JSON on the output the line would spoil it. */
	std::FILE *to = options.json ? stderr : stdout;
	sigset_t ending;
	const timespec time{options.hold_s, 0};

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	check(::sigprocmask(SIG_BLOCK, &ending, nullptr), "sigprocmask");
	fmt::print(to, "holding {} connections for {} s in process {}\n",
		   sockets, options.hold_s, ::getpid());
	std::fflush(to);
	(void)::sigtimedwait(&ending, nullptr, &time);
}

/* Where nobody reads standard error either, fmt::print() would throw. */
void complain(const std::string &what)
{
	std::fprintf(stderr, "reproduce: %s\n", what.c_str());
}

int run(const Options &options, const std::vector<const Case *> &todo)
{
	const std::vector<Family> families = families_of(options);
	const std::size_t crowd = static_cast<std::size_t>(
		options.count > 0 ? options.count : (options.hold_s > 0 ? 1 : 0));
	const std::size_t crowds = todo.size() * families.size();
	nlohmann::json array = nlohmann::json::array();
	bool differs = false;

	allow_files(crowd * (options.hold_s > 0 ? crowds : 1) + spare_files);
	enter_new_netns();
	allow_accept_queues();

	const int sysctl = set_sysctl(options.sysctl);
	Wire wire;
	std::deque<Company> held;

	for (const Case *one : todo) {
		for (const Family family : families) {
			Report report = play(wire, family, *one, sysctl);

			if (crowd > 0) {
				held.emplace_back(wire, family, *one, crowd);
				report.crowd = held.back().crowd();
			}
			if (options.hold_s == 0)
				held.clear();
			differs = differs || !differences(report).empty();
			if (options.json)
				array.push_back(report_json(report));
			else
				fmt::print("{}", options.check
							 ? check_text(report)
							 : report_text(report));
		}
	}
	if (options.json)
		fmt::print("{}\n", array.dump(2));
	if (std::fflush(stdout) != 0)
		fail(errno, "cannot write the output");
	if (options.hold_s > 0)
		hold(options, crowd * crowds);
	return options.check && differs ? failure : done;
}

} // namespace

int main(int argc, char **argv)
try {
	CLI::App app("Makes the states in which TCP connections are found after "
		     "their peer has gone,\nin a network namespace of its own.");
	Options options;

	describe(app, options);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		std::ostringstream complaint;
		const int status = app.exit(error, std::cout, complaint);

		std::fputs(printable(complaint.str()).c_str(), stderr);
		return status == 0 ? done : usage;
	}
	if (options.list && !options.names.empty())
		throw BadUsage("--list lists all cases and takes no name");
	if (options.list) {
		fmt::print("{}", list_text());
		if (std::fflush(stdout) != 0)
			fail(errno, "writing the list");
		return done;
	}
	return run(options, chosen(options.names));
} catch (const BadUsage &error) {
	complain(printable(error.what()));
	return usage;
} catch (const std::exception &error) {
	complain(error.what());
	return failure;
}
