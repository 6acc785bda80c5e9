// SPDX-License-Identifier: GPL-2.0
/*
 * What the log and the trace say in ten minutes about 50 page pools whose pages
 * dead sockets hold.
 */
#include <memory>
#include <optional>

#include "bench/setting.h"
#include "lib/kmsg.h"
#include "lib/stall.h"

namespace {

using namespace selftest;
using bench::Setting;

/* A line each 60 s: after half of one more, the tenth has come. */
constexpr int watch_s = 630;

void watch(const Setting &setting, int stalls, int seconds)
{
	std::vector<std::unique_ptr<Stall>> pools;
	Kmsg log;
	std::optional<Trace> trace;
	int lines = 0, events = 0, stalled = 0;

	if (Trace::has_event("page_pool", "page_pool_release_stalled"))
		trace.emplace(std::vector<std::string>{stalled_event});
	for (int i = 0; i < stalls; i++) {
		pools.push_back(std::make_unique<Stall>(setting.value,
							Farewell{0, true}));
		stalled += pools.back()->pool.inflight > 0;
	}
	for (int i = 0; i < seconds; i++) {
		wait(std::chrono::seconds(1));
		for (const std::string &line : log.read())
			lines += line.find("stalled pool shutdown") !=
				 std::string::npos;
		if (trace)
			events += static_cast<int>(trace->read().size());
	}
	bench::print("log", setting,
		     {{"pools", stalls},
		      {"stalled", stalled},
		      {"minutes", seconds / 60},
		      {"lines", lines},
		      {"events", events}});
}

void measure(const bench::Request &request)
{
	for (const Setting &setting : request.settings)
		bench::in_child([&] {
			watch(setting, request.quick ? 3 : 50,
			      request.quick ? 90 : watch_s);
		});
}

} // namespace

int main(int argc, char **argv)
{
	return bench::run("stalled_log", measure, argc, argv);
}
