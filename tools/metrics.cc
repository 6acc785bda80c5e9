// SPDX-License-Identifier: GPL-2.0
#include "lib/metrics.h"

#include <cerrno>
#include <csignal>

#include "lib/collect.h"
#include "lib/judge.h"
#include "lib/limits.h"
#include "lib/proc.h"
#include "lib/save.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

/* The state of a guard that runs; one that was killed leaves its file behind. */
std::optional<GuardState> running_guard(const std::string &file)
{
	auto text = read_file(file);
	if (!text)
		return std::nullopt;
	auto state = parse_guard_state(*text);
	if (!state || (kill(state->pid, 0) != 0 && errno == ESRCH))
		return std::nullopt;
	return *state;
}

} // namespace

int verb_metrics(int argc, char **argv)
{
	CLI::App app{"Prometheus metrics of dead sockets, stalled page pools and the sysctl, to standard "
		     "output or to a file for node_exporter's textfile collector.", "rxstall metrics"};
	std::string from, method, textfile, guard = guard_state_file;
	double listen = 2;

	app.add_option("--textfile", textfile, "write this file instead, whole or not at all")
		->type_name("FILE.prom");
	add_from_option(app, from);
	add_method_option(app, method);
	app.add_option("--listen", listen, "seconds to listen for events of pools that netlink does "
		       "not list (default 2, 0: do not)")->check(CLI::Range(0.0, 3600.0));
	app.add_option("--guard-state", guard, "where `rxstall guard` keeps its counters")
		->type_name("FILE");
	if (auto status = parse(app, argc, argv))
		return *status;

	const double begin = boot_seconds();
	auto snapshot = load_or_collect(from, {.states = over_mask(), .method = method, .pools = true,
					       .listen = listen});
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);

	MetricsInput input;
	input.snapshot = std::move(*snapshot);
	if (from.empty()) {
		input.duration_s = boot_seconds() - begin;
		input.descriptor_limits = descriptor_limits(input.snapshot);
		input.guard = running_guard(guard);
	}
	const std::string text = metrics_text(input);
	if (textfile.empty())
		return print(text);
	/* node_exporter runs as another user */
	auto saved = save_file(textfile, text, 0644);
	return saved ? static_cast<int>(exit_done) : fail(saved.error());
}

} // namespace rxstall
