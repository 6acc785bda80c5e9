// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>

#include "lib/collect.h"
#include "lib/glance.h"
#include "lib/guard_release.h"
#include "lib/guard_scan.h"
#include "lib/knob.h"
#include "lib/stop.h"
#include "lib/task.h"
#include "lib/text.h"
#include "lib/trace.h"
#include "lib/trace_parse.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

constexpr double rescan = 600;		/* seconds: a full scan at least so often */
constexpr double scan_patience = 60;	/* seconds until a scan that does not end is ended */
constexpr unsigned looks_a_dump = 6;	/* CLOSE_WAIT sockets are dumped at every sixth look at most */

struct Settings {
	GuardScope scope;
	unsigned limit = 600;
	double interval = 10;
	double cpu_percent = 0.1;	/* of one CPU, while there is nothing to do */
	bool dry_run = false;
	std::string state_file = guard_state_file;
};

/* A quarter of what the guard may take each for looks, dumps and scans, and one is reserve. */
double share(const Settings &settings) { return settings.cpu_percent / 100 / 4; }

double cpu_seconds()
{
	timespec used{};
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

class Guard {
public:
	explicit Guard(Settings settings)
		: settings_(std::move(settings)), sets_sysctl_(!settings_.dry_run && read_purge().has_value()),
		  journal_(settings_.state_file,
			   settings_.dry_run ? "dry-run" : sets_sysctl_ ? "sysctl" : "release"),
		  glance_(settings_.scope.filter, settings_.scope.min_age_ms),
		  trigger_(settings_.interval, rescan, share(settings_)),
		  release_(journal_, settings_.limit, settings_.dry_run)
	{
	}

	int run(const Stop &stop)
	{
		begin();
		while (true) {
			const double wait = std::max(0.0, next_wake() - boot_seconds());
			pollfd entries[] = {{stop.fd(), POLLIN, 0},
					    {task_ ? task_->fd() : -1, POLLIN, 0},
					    {trace_ && !trace_lost_ ? trace_->fd() : -1, POLLIN, 0}};
			poll(entries, 3, static_cast<int>(std::ceil(wait * 1000)));
			if (entries[0].revents)
				break;
			journal_.systemd().say("WATCHDOG=1");
			if (entries[2].revents)
				read_events();
			if (task_ && entries[1].revents && task_->read())
				end_scan(stop);
			else if (task_ && boot_seconds() - scan_began_ > scan_patience)
				abandon_scan();
			if (!task_ && boot_seconds() >= next_tick_)
				tick();
		}
		journal_.systemd().say("STOPPING=1");
		/* a scan changes nothing: its child is ended, not waited for */
		task_.reset();
		journal_.remove();
		return exit_done;
	}

private:
	void begin()
	{
		if (!sets_sysctl_)
			open_trace();
		journal_.say(Level::info,
			     sets_sysctl_
				     ? "guarding: sets tcp_purge_receive_queue = 2 in every network namespace; what "
				       "sockets hold already, `rxstall release --apply` frees"
				     : fmt::format("guarding: {} FIN-only queues of sockets dead for {} or longer, "
						   "at most {} a minute",
						   settings_.dry_run ? "would release" : "releases",
						   human_span(settings_.scope.min_age_ms), settings_.limit));
		journal_.save();
		journal_.systemd().say("READY=1");
	}

	void open_trace()
	{
		auto trace = Trace::open();
		if (trace && (trace->enable("page_pool", "page_pool_release_stalled") ||
			      trace->enable("page_pool", "page_pool_release", "inflight > 0")))
			trace_.emplace(std::move(*trace));
		else
			journal_.note((trace ? "no page_pool events" : trace.error().text) +
				      ": a stalled page pool does not trigger a scan; counters and the scan every " +
				      human_span(static_cast<uint64_t>(rescan * 1000)) + " do");
	}

	double next_wake() const
	{
		double wake = task_ ? scan_began_ + scan_patience : next_tick_;
		if (journal_.systemd().alive_every() > 0)
			wake = std::min(wake, boot_seconds() + journal_.systemd().alive_every());
		return wake;
	}

	void read_events()
	{
		const auto lines = trace_->read_lines();
		for (const std::string &line : lines)
			if (auto report = parse_pool_event(line, boot_seconds()))
				pool_stalled_ |= report->inflight > 0;
		/* readable without anything to read, time after time: the instance is of no use any more */
		empty_reads_ = lines.empty() ? empty_reads_ + 1 : 0;
		if (empty_reads_ > 10)
			lose_trace("tracefs is lost");
	}

	/* The instance goes in the end: whoever meddles with it has its files open yet. */
	void lose_trace(const std::string &why)
	{
		trace_lost_ = true;
		journal_.note(why + ": stalled page pools do not trigger scans any more");
	}

	void tick()
	{
		const double before = cpu_seconds();
		std::vector<std::string> notes;
		if (trace_ && !trace_lost_ && !trace_->on())
			lose_trace("somebody has switched off the tracing of page_pool events");
		if (sets_sysctl_)
			follow_sysctl(notes);
		else
			consider_scan(notes);
		for (const std::string &text : notes)
			journal_.note(text);
		const double cost = std::max(0.0, cpu_seconds() - before - std::exchange(dump_cost_, 0));
		next_tick_ = boot_seconds() + spacing(cost, share(settings_), settings_.interval);
	}

	void follow_sysctl(std::vector<std::string> &notes)
	{
		const uint64_t set = glance_.set_purge(notes);
		if (!set)
			return;
		journal_.state().namespaces_set += set;
		journal_.say(Level::notice,
			     fmt::format("tcp_purge_receive_queue set to 2 in {}", plural(set, "network namespace")),
			     {{"RXSTALL_EVENT", "sysctl"}, {"RXSTALL_NAMESPACES", std::to_string(set)}});
		journal_.save();
	}

	/* Every CLOSE_WAIT socket, in namespaces that are new, too. */
	void dump(std::vector<std::string> &notes, double now)
	{
		const double before = cpu_seconds();
		glance_.find();
		look_.waiting = glance_.waiting(notes);
		dump_cost_ = cpu_seconds() - before;
		next_dump_ = now + spacing(dump_cost_, share(settings_), 0);
		looks_left_ = looks_a_dump;
	}

	void consider_scan(std::vector<std::string> &notes)
	{
		const double now = boot_seconds();
		looks_left_ -= looks_left_ > 0;
		if (!looks_left_ && now >= next_dump_)
			dump(notes, now);
		look_.closed = glance_.closed(notes);
		look_.pool_stalled = std::exchange(pool_stalled_, false);
		const unsigned limit = release_.room(now);
		if (!trigger_.due(look_, now) || !limit)
			return;
		/* namespaces that have come since the last dump look like closed sockets */
		glance_.find();
		look_.closed = glance_.closed(notes);
		if (!trigger_.due(look_, now))
			return;
		const int self = getpid();
		auto task = Task::start([&] { return scan_report(settings_.scope, release_.tried(), limit, self); });
		if (task) {
			task_.emplace(std::move(*task));
			scan_began_ = now;
		} else {
			journal_.note(task.error().text);
		}
	}

	void abandon_scan()
	{
		task_.reset();
		journal_.note(fmt::format("a scan took longer than {} s and was ended", scan_patience));
		scan_failed(scan_patience);
		next_tick_ = boot_seconds() + settings_.interval;
	}

	/* It explained nothing, so what called for it calls again. */
	void scan_failed(double cost)
	{
		const double again = spacing(cost, share(settings_), 10 * settings_.interval);
		trigger_.scanned(0, again, cost, boot_seconds());
	}

	void end_scan(const Stop &stop)
	{
		auto text = task_->finish();
		const double cost = task_->cost();
		task_.reset();
		auto report = text ? read_scan_report(*text) : Result<ScanReport>(tl::unexpected(text.error()));
		if (!report) {
			journal_.note(report.error().text);
			scan_failed(cost);
			return;
		}
		auto &[plan, notes] = *report;
		for (const std::string &line : notes)
			journal_.note(line);
		journal_.state().scans++;
		const size_t found = plan.sockets.size();
		trigger_.freed(release_.release(std::move(plan.sockets), stop));

		const double now = boot_seconds();
		std::optional<double> again;
		if (plan.ripe_in_ms)
			again = static_cast<double>(*plan.ripe_in_ms) / 1000;
		if (plan.left_over)
			again = std::min(again.value_or(rescan), release_.wait(now));
		trigger_.scanned(found, again, cost, now);
		if (again)
			next_tick_ = std::min(next_tick_, now + std::max(*again, settings_.interval));
		journal_.save();
		malloc_trim(0);
	}

	const Settings settings_;
	const bool sets_sysctl_;
	GuardJournal journal_;
	Glance glance_;
	Trigger trigger_;
	GuardRelease release_;
	std::optional<Trace> trace_;
	bool trace_lost_ = false;
	std::optional<Task> task_;
	bool pool_stalled_ = false;
	Look look_;
	double dump_cost_ = 0;	/* CPU seconds, of a dump in this tick */
	double next_dump_ = 0;
	unsigned looks_left_ = 0;
	unsigned empty_reads_ = 0;
	double scan_began_ = 0;
	double next_tick_ = 0;
};

} // namespace

int verb_guard(int argc, char **argv)
{
	CLI::App app{"Does what tcp_purge_receive_queue = 2 does, on any kernel: frees the receive queue of "
		     "dead sockets that hold nothing but a FIN, as they turn up. Where the kernel has the "
		     "sysctl, sets it in every network namespace instead. Ends with SIGINT or SIGTERM.",
		     "rxstall guard"};
	Selection selection;
	Settings settings;

	selection.min_age = "60s";
	add_selection_options(app, selection);
	add_method_option(app, settings.scope.method);
	app.add_option("--limit", settings.limit, "sockets to release in a minute at most (default 600)")
		->check(CLI::Range(1u, 1'000'000u));
	app.add_option("--interval", settings.interval, "seconds between two looks at the counters, at "
		       "least (default 10)")->check(CLI::Range(0.1, 3600.0));
	app.add_option("--cpu", settings.cpu_percent, "per cent of one CPU that it may take on average while "
		       "there is nothing to release (default 0.1); looks and scans come more rarely then")
		->check(CLI::Range(0.001, 100.0))->type_name("PERCENT");
	app.add_flag("--dry-run", settings.dry_run, "release nothing and set nothing, only say it");
	app.add_option("--guard-state", settings.state_file, "where to keep counters for `rxstall metrics`")
		->type_name("FILE");
	if (auto status = parse(app, argc, argv))
		return *status;

	settings.scope.filter = selection.filter();
	settings.scope.min_age_ms = settings.scope.filter.min_age_ms.value_or(0);
	Stop stop;
	Guard guard(std::move(settings));
	return guard.run(stop);
}

} // namespace rxstall
