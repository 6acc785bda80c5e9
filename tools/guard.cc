// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <set>

#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/free.h"
#include "lib/glance.h"
#include "lib/guard_judge.h"
#include "lib/guard_state.h"
#include "lib/knob.h"
#include "lib/save.h"
#include "lib/service.h"
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
constexpr size_t most_notes = 100;

struct Settings {
	Filter filter;
	uint64_t min_age_ms = 60'000;
	unsigned limit = 600;
	double interval = 10;
	double cpu_percent = 0.1;	/* of one CPU, while there is nothing to do */
	bool dry_run = false;
	std::string method;
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

/* What a scan in a child process says: two numbers and the snapshot of what may be released. */
std::string report_of(const Settings &settings, const Tried &tried, unsigned limit, int self)
{
	CollectRequest request;
	request.states = settings.filter.states ? settings.filter.states : over_mask();
	request.method = settings.method;
	auto snapshot = collect(request);
	if (!snapshot)
		throw std::runtime_error(snapshot.error().text);
	Plan plan = plan_release(snapshot->sockets, settings.filter, settings.min_age_ms, tried, limit, self);
	snapshot->sockets = std::move(plan.sockets);
	Json json = to_json(*snapshot);
	json["left_over"] = plan.left_over;
	if (plan.ripe_in_ms)
		json["ripe_in_ms"] = *plan.ripe_in_ms;
	return dump(json, false);
}

Result<std::pair<Plan, std::vector<std::string>>> read_report(const std::string &text)
{
	auto snapshot = parse_snapshot(text);
	if (!snapshot)
		return tl::unexpected(snapshot.error());
	const Json json = Json::parse(text, nullptr, false);
	Plan plan;
	plan.sockets = std::move(snapshot->sockets);
	plan.left_over = json.value("left_over", size_t{0});
	if (json.contains("ripe_in_ms"))
		plan.ripe_in_ms = json["ripe_in_ms"].get<uint64_t>();
	return std::pair(std::move(plan), std::move(snapshot->notes));
}

class Guard {
public:
	explicit Guard(Settings settings)
		: settings_(std::move(settings)), glance_(settings_.filter, settings_.min_age_ms),
		  trigger_(settings_.interval, rescan, share(settings_)), rate_(settings_.limit)
	{
		state_.pid = getpid();
		std::error_code ignored;
		std::filesystem::create_directory(std::filesystem::path(settings_.state_file).parent_path(), ignored);
		follows_sysctl_ = read_purge().has_value();
		state_.mode = settings_.dry_run ? "dry-run" : follows_sysctl_ ? "sysctl" : "release";
	}

	int run(const Stop &stop)
	{
		begin();
		while (true) {
			const double wait = std::max(0.0, next_wake() - boot_seconds());
			pollfd entries[] = {{stop.fd(), POLLIN, 0},
					    {task_ ? task_->fd() : -1, POLLIN, 0},
					    {trace_ ? trace_->fd() : -1, POLLIN, 0}};
			poll(entries, 3, static_cast<int>(std::ceil(wait * 1000)));
			if (entries[0].revents)
				break;
			notify_.say("WATCHDOG=1");
			if (entries[2].revents)
				read_events();
			if (task_ && entries[1].revents && task_->read())
				end_scan(stop);
			else if (task_ && boot_seconds() - scan_began_ > scan_patience)
				abandon_scan();
			if (!task_ && boot_seconds() >= next_tick_)
				tick();
		}
		notify_.say("STOPPING=1");
		/* a scan changes nothing: its child is ended, not waited for */
		task_.reset();
		std::error_code ignored;
		std::filesystem::remove(settings_.state_file, ignored);
		return exit_done;
	}

private:
	void begin()
	{
		if (!follows_sysctl_ || settings_.dry_run)
			open_trace();
		log_.say(Level::info,
			 follows_sysctl_ && !settings_.dry_run
				 ? "guarding: sets tcp_purge_receive_queue = 2 in every network namespace; what "
				   "sockets hold already, `rxstall release --apply` frees"
				 : fmt::format("guarding: {} FIN-only queues of sockets dead for {} or longer, "
					       "at most {} a minute",
					       settings_.dry_run ? "would release" : "releases",
					       human_span(settings_.min_age_ms), settings_.limit));
		save_state();
		notify_.say("READY=1");
	}

	/* Said once, however often it is found again. */
	void note(const std::string &text)
	{
		if (said_.size() < most_notes && said_.insert(text).second)
			log_.say(Level::warning, text, {{"RXSTALL_EVENT", "missing"}});
	}

	void open_trace()
	{
		auto trace = Trace::open();
		if (trace && (trace->enable("page_pool", "page_pool_release_stalled") ||
			      trace->enable("page_pool", "page_pool_release", "inflight > 0")))
			trace_.emplace(std::move(*trace));
		else
			note((trace ? "no page_pool events" : trace.error().text) +
			     ": a stalled page pool does not trigger a scan; counters and the scan every " +
			     human_span(static_cast<uint64_t>(rescan * 1000)) + " do");
	}

	double next_wake() const
	{
		double wake = task_ ? scan_began_ + scan_patience : next_tick_;
		if (notify_.alive_every() > 0)
			wake = std::min(wake, boot_seconds() + notify_.alive_every());
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
		if (empty_reads_ > 10) {
			trace_.reset();
			note("tracefs is lost: stalled page pools do not trigger scans any more");
		}
	}

	void tick()
	{
		const double before = cpu_seconds();
		std::vector<std::string> notes;
		if (follows_sysctl_ && !settings_.dry_run)
			follow_sysctl(notes);
		else
			consider_scan(notes);
		for (const std::string &text : notes)
			note(text);
		const double cost = std::max(0.0, cpu_seconds() - before - std::exchange(dump_cost_, 0));
		next_tick_ = boot_seconds() + spacing(cost, share(settings_), settings_.interval);
	}

	void follow_sysctl(std::vector<std::string> &notes)
	{
		const uint64_t set = glance_.set_purge(notes);
		if (!set)
			return;
		state_.namespaces_set += set;
		log_.say(Level::notice, fmt::format("tcp_purge_receive_queue set to 2 in {}",
						    plural(set, "network namespace")),
			 {{"RXSTALL_EVENT", "sysctl"}, {"RXSTALL_NAMESPACES", std::to_string(set)}});
		save_state();
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
		tried_.forget_old(now);
		const unsigned limit = rate_.left(now);
		if (!trigger_.due(look_, now) || !limit)
			return;
		/* namespaces that have come since the last dump look like closed sockets */
		glance_.find();
		look_.closed = glance_.closed(notes);
		if (!trigger_.due(look_, now))
			return;
		const int self = getpid();
		auto task = Task::start([&] { return report_of(settings_, tried_, limit, self); });
		if (task) {
			task_.emplace(std::move(*task));
			scan_began_ = now;
		} else {
			note(task.error().text);
		}
	}

	void abandon_scan()
	{
		task_.reset();
		note(fmt::format("a scan took longer than {} s and was ended", scan_patience));
		trigger_.scanned(0, std::nullopt, scan_patience, boot_seconds());
		next_tick_ = boot_seconds() + settings_.interval;
	}

	void end_scan(const Stop &stop)
	{
		auto text = task_->finish();
		const double cost = task_->cost();
		task_.reset();
		auto report = text ? read_report(*text)
				   : Result<std::pair<Plan, std::vector<std::string>>>(tl::unexpected(text.error()));
		if (!report) {
			note(report.error().text);
			trigger_.scanned(0, std::nullopt, cost, boot_seconds());
			return;
		}
		auto &[plan, notes] = *report;
		for (const std::string &line : notes)
			note(line);
		state_.scans++;
		release(plan.sockets, stop);

		const double now = boot_seconds();
		std::optional<double> again;
		if (plan.ripe_in_ms)
			again = static_cast<double>(*plan.ripe_in_ms) / 1000;
		if (plan.left_over)
			again = std::min(again.value_or(rescan), rate_.wait(now));
		trigger_.scanned(plan.sockets.size(), again, cost, now);
		if (again)
			next_tick_ = std::min(next_tick_, now + std::max(*again, settings_.interval));
		save_state();
		malloc_trim(0);
	}

	void release(std::vector<Socket> &sockets, const Stop &stop)
	{
		std::vector<Socket> done, failed;
		for (Socket &socket : sockets) {
			if (stop.wait(0))
				break;
			rate_.take();
			if (settings_.dry_run) {
				tried_.add(socket, boot_seconds());
				done.push_back(std::move(socket));
				continue;
			}
			const Freed freed = free_socket(socket, {});
			if (freed.failed) {
				tried_.add(socket, boot_seconds());
				note(freed.text);
				failed.push_back(std::move(socket));
			} else if (freed.action != Action::leave) {
				socket.rmem = freed.before - freed.after;
				done.push_back(std::move(socket));
			}
		}
		if (!settings_.dry_run && !done.empty() && !kick_deferred())
			note("loopback is down here, so freed segments may wait on an idle CPU's list");
		tell(settings_.dry_run ? "would release" : "released", done);
		tell("could not release", failed);
		if (!settings_.dry_run) {
			state_.released += done.size();
			state_.released_bytes += sum(done).rmem;
			state_.failed += failed.size();
			trigger_.freed(static_cast<uint64_t>(std::count_if(done.begin(), done.end(), [](const Socket &socket) {
				return socket.state == State::close_wait;
			})));
		}
	}

	/* A line for each process and port, not for each socket. */
	void tell(const std::string &what, const std::vector<Socket> &sockets)
	{
		for (const Group &entry : group(sockets, {GroupKey::process, GroupKey::unit, GroupKey::dport})) {
			const std::string oldest = entry.oldest_ms ? human_span(*entry.oldest_ms) : "?";
			log_.say(Level::notice,
				 fmt::format("{} {} of {} towards port {}: {} bytes, the oldest silent for {}",
					     what, plural(entry.sums.sockets, "socket"), entry.keys[0],
					     entry.keys[2], entry.sums.rmem, oldest),
				 {{"RXSTALL_EVENT", what}, {"RXSTALL_PROCESS", entry.keys[0]},
				  {"RXSTALL_UNIT", entry.keys[1]}, {"RXSTALL_DPORT", entry.keys[2]},
				  {"RXSTALL_SOCKETS", std::to_string(entry.sums.sockets)},
				  {"RXSTALL_BYTES", std::to_string(entry.sums.rmem)},
				  {"RXSTALL_OLDEST_MS", std::to_string(entry.oldest_ms.value_or(0))}});
		}
	}

	void save_state()
	{
		auto saved = save_file(settings_.state_file, dump_guard_state(state_), 0644);
		if (!saved)
			note(saved.error().text + ": `rxstall metrics` cannot count what the guard does");
		notify_.say(fmt::format("STATUS={}: {} released, {} failed, {} set",
					state_.mode, plural(state_.released, "socket"), state_.failed,
					plural(state_.namespaces_set, "namespace")));
	}

	const Settings settings_;
	const Notify notify_;
	const Log log_;
	Glance glance_;
	Trigger trigger_;
	Rate rate_;
	Tried tried_;
	GuardState state_;
	std::optional<Trace> trace_;
	std::optional<Task> task_;
	std::set<std::string> said_;
	bool follows_sysctl_ = false;
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
	add_method_option(app, settings.method);
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

	settings.filter = selection.filter();
	settings.min_age_ms = settings.filter.min_age_ms.value_or(0);
	Stop stop;
	Guard guard(std::move(settings));
	return guard.run(stop);
}

} // namespace rxstall
