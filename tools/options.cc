// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/facts_json.h"
#include "lib/filter.h"
#include "lib/text.h"

namespace rxstall {

namespace {

/* A snapshot holds what is reported; a file beyond this is something else. */
constexpr std::streamoff largest_file = 256 << 20;

} // namespace

uint32_t netns_number(const std::string &word)
{
	if (auto number = parse_number<uint32_t>(word))
		return *number;
	struct stat status{};
	const std::string path = "/run/netns/" + word;
	if (word.empty() || word.find('/') != std::string::npos ||
	    stat(path.c_str(), &status) != 0)
		throw Usage{"no network namespace '" + word + "': give a name that `ip netns` "
			    "lists, or the number after net: in /proc/PID/ns/net"};
	return static_cast<uint32_t>(status.st_ino);
}

Style Output::style() const
{
	Style style = style_for(STDOUT_FILENO);
	style.header = !no_header;
	return style;
}

Filter Selection::filter() const
{
	Filter filter;
	if (ipv4 != ipv6)
		filter.family = ipv4 ? Family::ipv4 : Family::ipv6;
	if (!netns.empty())
		filter.netns = netns_number(netns);
	filter.pid = pid;
	if (!min_age.empty()) {
		filter.min_age_ms = parse_span(min_age);
		if (!filter.min_age_ms)
			throw Usage{"--min-age '" + min_age + "': give a number with ms, s, m, h or d"};
	}
	if (!state.empty()) {
		auto mask = parse_state(state);
		if (!mask)
			throw Usage{mask.error().text};
		filter.states = *mask;
	}
	auto complete = parse_filter(filter, words);
	if (!complete)
		throw Usage{complete.error().text};
	return *complete;
}

void add_output_options(CLI::App &app, Output &output)
{
	app.add_flag("--json,-j", output.json, "print one JSON array");
	app.add_flag("--pretty", output.pretty, "print the JSON over several lines");
	app.add_flag("-H,--no-header", output.no_header, "omit the line of titles");
}

void add_selection_options(CLI::App &app, Selection &selection)
{
	/* accepted for the fingers' sake: this is how rxstall always prints */
	static bool always;

	app.add_flag("-4,--ipv4", selection.ipv4, "IPv4 only");
	app.add_flag("-6,--ipv6", selection.ipv6, "IPv6 only");
	app.add_flag("-n,--numeric,-p,--processes,-O,--oneline", always,
		     "as in ss: numbers, processes and one line a socket are the rule here");
	app.add_option("-N,--net", selection.netns, "only this network namespace (name or number)")
		->type_name("NETNS");
	app.add_option("--state", selection.state,
		       "only this state: close, close-wait, last-ack, closing, ..., dead, all")
		->type_name("STATE");
	app.add_option("--min-age", selection.min_age,
		       "only if the peer was last heard this long ago (10s, 5m, 2h, 1d)")
		->type_name("AGE");
	app.add_option("--pid", selection.pid, "only sockets of this process")->type_name("PID");
	app.add_option("filter", selection.words,
		       "as in ss: [state X] [sport = :N] [dport = :N] [src ADDR] [dst ADDR]");
}

void add_method_option(CLI::App &app, std::string &method)
{
	app.add_option("--method", method, "bpf: the iterator; walk: /proc (default: what works)")
		->check(CLI::IsMember({"bpf", "walk"}))->type_name("METHOD");
}

void add_from_option(CLI::App &app, std::string &file)
{
	app.add_option("--from", file, "read a saved snapshot instead of this host")
		->type_name("FILE");
}

std::optional<int> parse(CLI::App &app, int argc, char **argv)
{
	try {
		app.parse(argc, argv);
	} catch (const CLI::CallForHelp &) {
		return print(app.help());
	} catch (const CLI::ParseError &error) {
		throw Usage{error.what()};
	}
	return std::nullopt;
}

Result<Snapshot> load_snapshot(const std::string &file)
{
	std::ifstream in(file, std::ios::binary | std::ios::ate);
	if (!in)
		return failure(errno, "cannot open '" + escape(file) + "'");
	/* a device or a pipe has no size: refuse it here rather than read without end */
	struct stat status{};
	if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
		return failure("'" + escape(file) + "' is not a regular file");
	if (in.tellg() > largest_file)
		return failure("'" + escape(file) + "' is too large to be a snapshot");

	std::ostringstream text;
	in.seekg(0);
	text << in.rdbuf();
	auto snapshot = parse_snapshot(text.str());
	if (!snapshot)
		return failure("'" + escape(file) + "': " + snapshot.error().text);
	return snapshot;
}

Result<Snapshot> load_or_collect(const std::string &file, const CollectRequest &request)
{
	return file.empty() ? collect(request) : load_snapshot(file);
}

void print_notes(const Snapshot &snapshot)
{
	for (const std::string &note : snapshot.notes)
		fmt::print(stderr, "rxstall: {}\n", escape(note));
}

int print(const std::string &text)
{
	if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
	    std::fflush(stdout) == 0)
		return exit_done;
	return fail({errno, std::string("cannot write the output: ") + std::strerror(errno)});
}

int fail(const Error &error)
{
	fmt::print(stderr, "rxstall: {}\n", error.text);
	return exit_failure;
}

} // namespace rxstall
