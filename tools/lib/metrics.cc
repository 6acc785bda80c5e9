// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include <algorithm>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "judge.h"
#include "pools.h"

namespace rxstall {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array over_states = {State::close, State::close_wait, State::last_ack, State::closing};

/* What a page holds at least, where netlink does not say how much it is. */
constexpr uint64_t smallest_page = 4096;

class Families {
public:
	/* Begins a family; add() puts its values in. */
	Families &gauge(const char *name, const char *help) { return begin(name, help, MetricType::Gauge); }
	Families &counter(const char *name, const char *help) { return begin(name, help, MetricType::Counter); }

	Families &add(double value, std::vector<ClientMetric::Label> labels = {})
	{
		ClientMetric metric;
		metric.label = std::move(labels);
		metric.gauge.value = metric.counter.value = value;
		families_.back().metric.push_back(std::move(metric));
		return *this;
	}

	std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

private:
	Families &begin(const char *name, const char *help, MetricType type)
	{
		families_.push_back({name, help, type, {}});
		return *this;
	}

	std::vector<MetricFamily> families_;
};

std::string text(std::string_view view) { return std::string(view); }

struct Cell {
	uint64_t sockets = 0;
	uint64_t rmem = 0;
};

void add_sockets(Families &out, const std::vector<Socket> &dead)
{
	std::map<std::pair<State, Class>, Cell> cells;
	std::map<Class, uint64_t> oldest_ms;
	const Sums sums = sum(dead);
	for (const Socket &socket : dead) {
		const Class cls = classify(socket);
		Cell &cell = cells[{socket.state, cls}];
		cell.sockets++;
		cell.rmem += socket.rmem;
		oldest_ms[cls] = std::max(oldest_ms[cls], socket.age_ms.value_or(0));
	}

	auto each_cell = [&](uint64_t Cell::*member) {
		for (State state : over_states)
			for (const auto &cls : class_names)
				if (cls.value != Class::empty)
					out.add(static_cast<double>(cells[{state, cls.value}].*member),
						{{"state", text(name(state))}, {"class", text(cls.text)}});
	};
	out.gauge("rxstall_dead_sockets", "Sockets whose connection is over and that hold receive memory.");
	each_cell(&Cell::sockets);
	out.gauge("rxstall_dead_socket_receive_bytes", "Receive memory that they hold, as truesize.");
	each_cell(&Cell::rmem);
	out.gauge("rxstall_dead_socket_unread_bytes", "Payload in it that was never read.")
		.add(static_cast<double>(sums.unread));
	out.gauge("rxstall_dead_sockets_in_pool_memory", "Dead sockets that pin pages of a page pool.")
		.add(static_cast<double>(sums.pool));
	out.gauge("rxstall_dead_socket_oldest_seconds", "Time since the peer of the oldest was last heard.");
	for (const auto &cls : class_names)
		if (cls.value != Class::empty)
			out.add(static_cast<double>(oldest_ms[cls.value]) / 1000, {{"class", text(cls.text)}});
}

void add_processes(Families &out, const std::vector<Socket> &dead, const std::map<int, uint64_t> &limits)
{
	std::map<int, uint64_t> descriptors;
	uint64_t most = 0;
	double ratio = 0;
	for (const Socket &socket : dead)
		for (const Owner &owner : socket.owners)
			if (owner.holder == Holder::process)
				most = std::max(most, ++descriptors[owner.pid]);
	for (const auto &[pid, count] : descriptors)
		if (auto limit = limits.find(pid); limit != limits.end() && limit->second > 0)
			ratio = std::max(ratio, static_cast<double>(count) / static_cast<double>(limit->second));

	out.gauge("rxstall_process_dead_sockets_max", "Most descriptors of dead sockets in one process.")
		.add(static_cast<double>(most));
	out.gauge("rxstall_process_dead_descriptors_ratio",
		  "Largest part of one process's descriptor limit that dead sockets take up.").add(ratio);
}

void add_pools(Families &out, const Snapshot &snapshot)
{
	uint64_t listed = 0, unlisted = 0, negative = 0, pages = 0, bytes = 0, oldest = 0;
	for (const PoolView &pool : merge_pools(snapshot)) {
		if (!pool.detached || pool.inflight == 0 || pool.trend == Trend::freed)
			continue;
		(pool.listed ? listed : unlisted)++;
		oldest = std::max(oldest, pool.stalled_s.value_or(0));
		if (pool.inflight < 0) {
			negative++;
			continue;
		}
		const auto inflight = static_cast<uint64_t>(pool.inflight);
		pages += inflight;
		bytes += pool.inflight_mem.value_or(inflight * smallest_page);
	}

	out.gauge("rxstall_stalled_pools", "Page pools that their driver let go of and that wait for pages.")
		.add(static_cast<double>(listed), {{"seen", "netlink"}})
		.add(static_cast<double>(unlisted), {{"seen", "events"}});
	out.gauge("rxstall_stalled_pool_inflight_pages", "Pages that these pools wait for.")
		.add(static_cast<double>(pages));
	out.gauge("rxstall_stalled_pool_inflight_bytes", "Memory of these pages, at least.")
		.add(static_cast<double>(bytes));
	out.gauge("rxstall_stalled_pool_oldest_seconds", "How long the oldest of these pools has waited.")
		.add(static_cast<double>(oldest));
	out.gauge("rxstall_stalled_pools_negative", "Pools whose count is below zero: a driver's fault.")
		.add(static_cast<double>(negative));
}

void add_namespaces(Families &out, const std::vector<Netns> &namespaces)
{
	std::map<std::string, uint64_t> counts{{"0", 0}, {"1", 0}, {"2", 0}, {"absent", 0}, {"unknown", 0}};
	for (const Netns &netns : namespaces) {
		const std::string value = !netns.entered ? "unknown"
					  : netns.purge ? std::to_string(*netns.purge) : "absent";
		/* a value of a later kernel must not become a series of its own */
		counts[counts.contains(value) ? value : "unknown"]++;
	}
	out.gauge("rxstall_namespaces", "Network namespaces by their tcp_purge_receive_queue.");
	for (const auto &[value, count] : counts)
		out.add(static_cast<double>(count), {{"purge", value}});
}

void add_guard(Families &out, const std::optional<GuardState> &running)
{
	const GuardState guard = running.value_or(GuardState{});
	out.gauge("rxstall_guard_running", "1 if rxstall guard runs.").add(running ? 1 : 0);
	out.counter("rxstall_guard_released_total", "Sockets that the guard has released.")
		.add(static_cast<double>(guard.released));
	out.counter("rxstall_guard_released_bytes_total", "Receive memory that it has released.")
		.add(static_cast<double>(guard.released_bytes));
	out.counter("rxstall_guard_failed_total", "Sockets that it could not release.")
		.add(static_cast<double>(guard.failed));
}

void add_scan(Families &out, const MetricsInput &input)
{
	const Snapshot &snapshot = input.snapshot;
	out.gauge("rxstall_build_info", "1; the label is this program's version.")
		.add(1, {{"version", RXSTALL_VERSION}});
	out.gauge("rxstall_scan_timestamp_seconds", "When the host was looked at, in seconds since 1970.")
		.add(static_cast<double>(snapshot.taken));
	out.gauge("rxstall_scan_duration_seconds", "How long that took, listening for events included.")
		.add(input.duration_s);
	out.gauge("rxstall_scan_errors", "What kernel or privileges did not allow; stderr names it.")
		.add(static_cast<double>(snapshot.notes.size()));
	out.gauge("rxstall_not_seen", "What exists and could not be looked at.")
		.add(static_cast<double>(snapshot.hidden.refused), {{"what", "processes"}})
		.add(static_cast<double>(snapshot.hidden.namespaces), {{"what", "namespaces"}})
		.add(static_cast<double>(snapshot.hidden.in_flight), {{"what", "descriptors_in_flight"}})
		.add(static_cast<double>(snapshot.hidden.io_uring), {{"what", "io_uring_files"}})
		.add(static_cast<double>(ownerless(snapshot.sockstat)), {{"what", "closed_without_owner"}});
}

} // namespace

std::string metrics_text(const MetricsInput &input)
{
	std::vector<Socket> dead;
	std::copy_if(input.snapshot.sockets.begin(), input.snapshot.sockets.end(), std::back_inserter(dead),
		     [](const Socket &socket) { return matches({}, socket); });

	Families out;
	add_scan(out, input);
	add_sockets(out, dead);
	add_processes(out, dead, input.descriptor_limits);
	add_pools(out, input.snapshot);
	add_namespaces(out, input.snapshot.namespaces);
	add_guard(out, input.guard);
	return out.text();
}

} // namespace rxstall
