// SPDX-License-Identifier: GPL-2.0
/*
 * How long after the RST a page pool is free. A destroyed pool looks once in an
 * interval whether its pages have come back (page_pool_release_retry(), about a
 * second), so the time is given in such intervals, and the RSTs are spread over
 * one. All times are the kernel's own, from its trace events.
 */
#include <sys/socket.h>

#include "bench/setting.h"
#include "lib/checked.h"
#include "lib/stall.h"

namespace {

using namespace selftest;
using bench::Setting;

constexpr std::size_t payload = 3000;
/* After so many retries with its page still out, a pool counts as held. */
constexpr int give_up = 10;
const char *const reset_event = "tcp/tcp_receive_reset";

/** Waits for the next event about @pool, or any if it is empty. */
TraceEvent next_event(Trace &trace, const std::string &pool)
{
	for (;;) {
		for (const TraceEvent &event : trace.read())
			if (pool.empty() || event.fields.at("page_pool") == pool)
				return event;
		wait(milliseconds(300));
	}
}

/** Intervals from the RST to the free pool; negative: retries it was held for. */
double freed_after(const Setting &setting, std::size_t bytes, double phase)
{
	Trace pools({release_event});
	Trace resets({reset_event});
	Stall stall(setting.value, {bytes, false}, By::detaching_the_pool);
	const double first = next_event(pools, stall.pool.name).seconds;
	const double second = next_event(pools, stall.pool.name).seconds;
	const double interval = second - first;

	wait(milliseconds(static_cast<int>(phase * interval * 1000)));
	/* The peer has closed its socket: it answers with a RST. */
	check(::send(stall.socket.get(), "x", 1, MSG_NOSIGNAL), "send");
	wait_for_state(stall.socket.get(), CLOSE);

	const double reset = next_event(resets, "").seconds;

	for (int retries = 0; retries < give_up; retries++) {
		const TraceEvent event = next_event(pools, stall.pool.name);

		if (event.number("inflight") == 0)
			return (event.seconds - reset) / interval;
	}
	return -give_up;
}

void measure(const bench::Request &request)
{
	const int repeats = request.quick ? 4 : 100;

	for (const Setting &setting : request.settings)
		for (const std::size_t bytes : {std::size_t{0}, payload})
			for (int i = 0; i < repeats; i++)
				bench::in_child([&] {
					bench::print(
						"freedom", setting,
						{{"unread", bytes ? "3 KB" : "FIN"},
						 {"intervals",
						  freed_after(setting, bytes,
							      1.0 * i / repeats)}});
				});
}

} // namespace

int main(int argc, char **argv)
{
	return bench::run("freedom", measure, argc, argv);
}
