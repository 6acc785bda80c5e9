// SPDX-License-Identifier: GPL-2.0
/*
 * What `rxstall release --apply` costs beside a recv() of each socket by its owner,
 * under a clock that counts instructions: release [--quick] RXSTALL. Releases only
 * what this very process holds.
 */
#include <sys/socket.h>

#include <chrono>
#include <iostream>

#include <nlohmann/json.hpp>

#include "bench/command.h"
#include "bench/crowd.h"
#include "lib/checked.h"
#include "lib/facts.h"

namespace {

using namespace selftest;
using Json = nlohmann::ordered_json;

/** Instructions of @call. */
template <class Call> std::int64_t instructions(Call call)
{
	using Clock = std::chrono::steady_clock;
	const auto begin = Clock::now();

	call();
	return std::chrono::nanoseconds(Clock::now() - begin).count();
}

void compare(const std::string &rxstall, int count)
{
	const Netns netns = Netns::create();
	const auto inside = netns.enter();
	const std::vector<std::string> words = {
		rxstall, "release", "--apply", "--pid", std::to_string(::getpid())};

	auto sockets = bench::dead_sockets(count);
	const auto plain = instructions([&sockets] {
		for (const unique_fd &socket : sockets)
			check(::recv(socket.get(), nullptr, 0, MSG_DONTWAIT),
			      "recv");
	});

	sockets.clear();
	/* Once unmeasured: files are read for the first time. */
	bench::cost_of(words);
	sockets = bench::dead_sockets(count);

	/* The CPU's time, not the clock's: loading BPF waits for RCU. */
	const auto release = bench::cost_of(words).cpu_ns;

	for (const unique_fd &socket : sockets)
		if (facts_of(socket.get()).rmem)
			throw std::runtime_error("rxstall has not released a socket");
	std::cout << Json{{"table", "release"},
			  {"sockets", count},
			  {"plain", plain},
			  {"release", release}}
		  << std::endl;
}

void measure(const std::string &rxstall, bool quick)
{
	bench::allow_descriptors();
	for (const int count : quick ? std::vector<int>{100}
				     : std::vector<int>{100, 1000, 10000})
		compare(rxstall, count);
}

} // namespace

int main(int argc, char **argv)
{
	return bench::measure_program("release", measure, argc, argv);
}
