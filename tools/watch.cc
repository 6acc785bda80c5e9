// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cstring>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <poll.h>

#include "lib/collect.h"
#include "lib/collect_pools.h"
#include "lib/facts_json.h"
#include "lib/follow.h"
#include "lib/klog.h"
#include "lib/pools.h"
#include "lib/stop.h"
#include "lib/text.h"
#include "lib/trace.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

/* At most one scan in this time, however many connections end. */
constexpr double scan_interval = 1.0;

/* From CLOSE-WAIT, ESTABLISHED, LAST-ACK and CLOSING: the ends that may leave a queue. */
constexpr const char *deaths = "protocol == 6 && newstate == 7 && "
			       "(oldstate == 8 || oldstate == 1 || oldstate == 9 || oldstate == 11)";

constexpr std::array<Name<PoolNews>, 3> news_names{{
	{PoolNews::stalled, "stalled"},
	{PoolNews::changed, "changed"},
	{PoolNews::released, "released"},
}};

class Watch {
public:
	Watch(const Stop &stop, bool json, std::string method)
		: stop_(stop), json_(json), method_(std::move(method))
	{
	}

	/* Opens what this kernel has; an error if that is nothing at all. */
	Result<void> open()
	{
		/* the names of devices, for when they are gone; and what is missing here is said once */
		auto first = scan();
		if (!first)
			return tl::unexpected(first.error());
		print_notes(*first);
		auto trace = Trace::open();
		if (trace) {
			trace_.emplace(std::move(*trace));
			sockets_seen_ = trace_->enable("sock", "inet_sock_set_state", deaths);
			pools_seen_ = trace_->enable("page_pool", "page_pool_release");
			pools_seen_ |= trace_->enable("page_pool", "page_pool_release_stalled");
		} else {
			note(trace.error().text + ": cannot see connections end");
		}
		if (!pools_seen_) {
			note("no page_pool events: only the kernel log tells of stalled pools, after 60 s");
			auto klog = Klog::open();
			if (klog)
				klog_.emplace(std::move(*klog));
			else
				note(klog.error().text);
		}
		if (!sockets_seen_ && !pools_seen_ && !klog_)
			return failure("nothing to watch: neither tracefs nor the kernel log can be read");
		return {};
	}

	/* Until a signal comes, the output ends, or the time is over (0: never). */
	int run(double seconds)
	{
		const double end = boot_seconds() + seconds;
		while (status_ == exit_done) {
			double wait = socket_follower_.pending()
				? std::clamp(last_scan_ + scan_interval - boot_seconds(), 0.05, scan_interval)
				: 3600;
			if (seconds > 0)
				wait = std::min(wait, end - boot_seconds());
			if (wait <= 0)
				break;
			pollfd entries[] = {{stop_.fd(), POLLIN, 0},
					    {trace_ ? trace_->fd() : -1, POLLIN, 0},
					    {klog_ ? klog_->fd() : -1, POLLIN, 0}};
			poll(entries, 3, static_cast<int>(wait * 1000) + 1);
			if (entries[0].revents)
				break;
			read_events();
			if (socket_follower_.pending() && boot_seconds() - last_scan_ >= scan_interval)
				report_sockets();
		}
		return status_;
	}

private:
	static void note(const std::string &text) { fmt::print(stderr, "rxstall: {}\n", escape(text)); }

	void read_events()
	{
		for (const std::string &line : trace_ ? trace_->read_lines() : std::vector<std::string>()) {
			if (auto change = parse_state_event(line))
				socket_follower_.see(*change);
			else if (auto report = parse_pool_event(line, boot_seconds()))
				report_pool(*report);
		}
		for (const PoolReport &report : klog_ ? klog_->read_new() : std::vector<PoolReport>())
			report_pool(report);
	}

	/* all states: a live connection may hold pages of an old pool */
	Result<Snapshot> scan()
	{
		CollectRequest request;
		request.states = all_states;
		request.method = method_;
		request.stop = &stop_;
		last_scan_ = boot_seconds();
		auto snapshot = collect(request);
		if (!snapshot)
			return snapshot;
		for (Pool &pool : list_all_pools(snapshot->notes))
			snapshot->pools.push_back(std::move(pool));
		memory_.complete(snapshot->pools);
		return snapshot;
	}

	void report_sockets()
	{
		auto snapshot = scan();
		if (stop_.wait(0))
			return;
		if (!snapshot) {
			note(snapshot.error().text);
			status_ = exit_failure;
			return;
		}
		for (const Socket &socket : socket_follower_.take(snapshot->sockets)) {
			Json json = to_json(socket);
			json["event"] = "socket_died";
			const std::string error = socket.error && *socket.error
				? fmt::format(", error {}", strerrorname_np(*socket.error)) : "";
			say(json, fmt::format("socket died: {} {} to {}, {}, {} bytes held, {} unread{}",
					      owner_text(socket), endpoint_text(socket.local, socket.family),
					      endpoint_text(socket.peer, socket.family),
					      name(classify(socket)), socket.rmem, socket.unread, error));
		}
	}

	void report_pool(const PoolReport &report)
	{
		auto line = pool_follower_.see(report);
		if (!line)
			return;
		auto snapshot = line->news == PoolNews::released ? Result<Snapshot>(Snapshot{}) : scan();
		if (stop_.wait(0))
			return;
		PoolView view = snapshot ? view_of(*snapshot, report) : PoolView{};
		PoolView &known = views_[report.address];
		if (line->news == PoolNews::released)
			view = known;	/* it is gone from the kernel's answers */
		known = view;
		const std::string pool = pool_name(report, view);
		Json json = to_json(report);
		if (view.id)
			json["id"] = *view.id;
		json["device"] = view.device;
		json["driver"] = view.driver;
		json["event"] = fmt::format("pool_{}", name_of(news_names, line->news));
		json["stalled_s"] = line->stalled_s;
		if (line->news == PoolNews::released) {
			views_.erase(report.address);
			say(json, fmt::format("pool {} released after {} s", pool, line->stalled_s));
			return;
		}
		const std::string holders = !snapshot ? snapshot.error().text
			: view.exact ? "held by " + holders_text(view) : holder_guess(*snapshot);
		json["holders"] = holders;
		json["holders_exact"] = view.exact;
		say(json, line->news == PoolNews::changed
			? fmt::format("pool {}: {} pages in flight, before {}; {}", pool, report.inflight,
				      line->before, holders)
			: fmt::format("pool {} stalled for {} s: {} pages in flight; {}", pool,
				      line->stalled_s, report.inflight, holders));
	}

	/* "4 of eth0 (ice)" */
	static std::string pool_name(const PoolReport &report, const PoolView &view)
	{
		std::string text = view.id ? std::to_string(*view.id)
					   : report.id ? std::to_string(*report.id)
						       : report.address.empty() ? "?" : "@" + report.address;
		if (!view.device.empty())
			text += " of " + view.device;
		if (!view.driver.empty())
			text += " (" + view.driver + ")";
		return text;
	}

	void say(Json &json, const std::string &text)
	{
		const time_t now = time(nullptr);
		json["time"] = now;
		const std::string line = json_ ? dump(json, false)
					       : fmt::format("{:%H:%M:%S} {}", fmt::localtime(now), escape(text));
		if (status_ == exit_done)
			status_ = print(line + "\n");
	}

	const Stop &stop_;
	const bool json_;
	const std::string method_;
	std::optional<Trace> trace_;
	std::optional<Klog> klog_;
	bool sockets_seen_ = false;
	bool pools_seen_ = false;
	PoolFollower pool_follower_;
	PoolMemory memory_;
	std::map<std::string, PoolView> views_;	/* by the report's address, until released */
	SocketFollower socket_follower_;
	double last_scan_ = 0;
	int status_ = exit_done;
};

} // namespace

int verb_watch(int argc, char **argv)
{
	CLI::App app{"A line when a connection dies with something in its receive queue, and when a page "
		     "pool stalls, changes or is released. Ends with SIGINT or SIGTERM.", "rxstall watch"};
	bool json = false;
	std::string method;
	double seconds = 0;

	app.add_flag("--json,-j", json, "one JSON object a line");
	add_method_option(app, method);
	app.add_option("--for", seconds, "end after this many seconds")
		->check(CLI::Range(0.0, 1e9))->type_name("SECONDS");
	if (auto status = parse(app, argc, argv))
		return *status;

	Stop stop;
	Watch watch(stop, json, method);
	auto opened = watch.open();
	if (stop.wait(0))
		return exit_done;
	return opened ? watch.run(seconds) : fail(opened.error());
}

} // namespace rxstall
