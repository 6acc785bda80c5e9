// SPDX-License-Identifier: GPL-2.0
/*
 * How long after the RST a page pool is free. A destroyed pool looks once in an
 * interval whether its pages have come back (page_pool_release_retry(), about a
 * second), so the time is given in such intervals, and the RSTs are spread over
 * one. All times are the kernel's own, from its trace events.
 */
#include <sys/socket.h>

#include <map>
#include <memory>

#include "bench/setting.h"
#include "lib/checked.h"
#include "lib/stall.h"

namespace {

using namespace selftest;
using bench::Setting;

constexpr std::size_t payload = 3000;
/* So long after the RSTs a pool whose page is still out counts as held. */
constexpr int watch_s = 20;
const char *const reset_event = "tcp/tcp_receive_reset";

/** What is known of one pool, in seconds of the kernel's clock. */
struct Watched {
	std::unique_ptr<Stall> stall;
	std::vector<double> looks;	/* retries before the RST */
	double reset = 0;
	double freed = 0;
	int retries = 0;		/* after the RST, with its page out */

	/** Intervals from the RST to the free pool; negative: retries held. */
	[[nodiscard]] double intervals() const
	{
		const auto n = looks.size();

		return freed ? (freed - reset) / (looks[n - 1] - looks[n - 2])
			     : -retries;
	}
};

using Pools = std::map<std::string, Watched>;

void take_events(Trace &trace, Pools &pools)
{
	for (const TraceEvent &event : trace.read()) {
		const auto it = pools.find(event.fields.at("page_pool"));

		if (it == pools.end())
			continue;
		if (!it->second.reset)
			it->second.looks.push_back(event.seconds);
		else if (event.number("inflight") == 0)
			it->second.freed = event.seconds;
		else
			it->second.retries++;
	}
}

/** The RST of one connection, when the clock says. */
void end_connection(Trace &resets, Watched &pool)
{
	const int fd = pool.stall->socket.get();

	/* The peer has closed its socket: it answers with a RST. */
	check(::send(fd, "x", 1, MSG_NOSIGNAL), "send");
	wait_for_state(fd, CLOSE);
	pool.reset = resets.read().at(0).seconds;
}

void watch(const Setting &setting, std::size_t bytes, int count)
{
	Trace looks({release_event});
	Trace resets({reset_event});
	Pools pools;

	for (int i = 0; i < count; i++) {
		auto stall = std::make_unique<Stall>(setting.value,
						     Farewell{bytes, false},
						     By::detaching_the_pool);
		const std::string name = stall->pool.name;

		pools[name].stall = std::move(stall);
	}
	/* Three looks at each, or more. */
	for (int i = 0; i < 7; i++) {
		wait(milliseconds(500));
		take_events(looks, pools);
	}
	for (auto &[name, pool] : pools) {
		take_events(looks, pools);
		end_connection(resets, pool);
		wait(milliseconds(1000 / count));
	}
	for (int i = 0; i < watch_s; i++) {
		wait(milliseconds(1000));
		take_events(looks, pools);
	}
	for (const auto &[name, pool] : pools)
		bench::print("freedom", setting,
			     {{"unread", bytes ? "3 KB" : "FIN"},
			      {"intervals", pool.intervals()}});
}

void measure(const bench::Request &request)
{
	for (const Setting &setting : request.settings)
		for (const std::size_t bytes : {std::size_t{0}, payload})
			bench::in_child([&] {
				watch(setting, bytes, request.quick ? 4 : 100);
			});
}

} // namespace

int main(int argc, char **argv)
{
	return bench::run("freedom", measure, argc, argv);
}
