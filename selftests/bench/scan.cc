// SPDX-License-Identifier: GPL-2.0
/*
 * rxstall beside ss, lsof and /proc/net/tcp, on the same sockets in the same
 * minutes: scan [--quick] RXSTALL. Each program runs several times, in turn, and
 * its best run counts; one of more than ten seconds is not repeated. Works on the
 * host it is started on, with sockets of its own in namespaces of its own.
 */
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "bench/command.h"
#include "bench/crowd.h"

namespace {

using namespace selftest;
using Json = nlohmann::ordered_json;

constexpr int runs = 3;
/* A run that took this long is not repeated. */
constexpr std::int64_t long_ns = 10'000'000'000;

struct Tool {
	const char *name;
	std::vector<std::string> words;
};

std::vector<Tool> tools_with(const std::string &rxstall)
{
	return {{"rxstall, BPF", {rxstall, "sockets", "--method", "bpf"}},
		{"rxstall, /proc", {rxstall, "sockets", "--method", "walk"}},
		{"ss -tapnm", {"ss", "-tapnm"}},
		{"lsof -nP", {"lsof", "-nP"}},
		{"cat /proc/net/tcp", {"cat", "/proc/net/tcp"}}};
}

void keep_best(bench::Cost &best, const bench::Cost &cost, bool first)
{
	best = {first ? cost.wall_ns : std::min(best.wall_ns, cost.wall_ns),
		first ? cost.cpu_ns : std::min(best.cpu_ns, cost.cpu_ns),
		std::max(best.peak_kib, cost.peak_kib)};
}

void compare(const bench::CrowdSize &size, const std::vector<Tool> &tools)
{
	const bench::Crowd crowd(size);
	const auto inside = crowd.netns().enter();
	std::vector<bench::Cost> best(tools.size());

	for (int run = 0; run < runs; run++)
		for (std::size_t i = 0; i < tools.size(); i++) {
			if (best[i].wall_ns > long_ns)
				continue;
			keep_best(best[i], bench::cost_of(tools[i].words),
				  run == 0);
		}
	for (std::size_t i = 0; i < tools.size(); i++)
		std::cout << Json{{"table", "scan"},
				  {"processes", size.processes},
				  {"sockets", size.sockets},
				  {"tool", tools[i].name},
				  {"wall_ns", best[i].wall_ns},
				  {"cpu_ns", best[i].cpu_ns},
				  {"peak_kib", best[i].peak_kib}}
			  << std::endl;
}

void measure(const std::string &rxstall, bool quick)
{
	const std::vector<int> sizes =
		quick ? std::vector<int>{200}
		      : std::vector<int>{1000, 10000, 50000, 100000};

	bench::allow_descriptors();
	for (const int processes :
	     quick ? std::vector<int>{10} : std::vector<int>{50, 2000})
		for (const int sockets : sizes)
			compare({sockets, processes, sockets / 100},
				tools_with(rxstall));
}

} // namespace

int main(int argc, char **argv)
{
	return bench::measure_program("scan", measure, argc, argv);
}
