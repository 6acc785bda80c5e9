// SPDX-License-Identifier: GPL-2.0
/*
 * What `rxstall watch` costs while nothing happens, under a clock that counts
 * instructions: watch_idle RXSTALL. What starting and ending it costs is
 * taken off. For comparison, one scan of all sockets.
 */
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "bench/command.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr int short_s = 10, long_s = 610;
/* Beginning and end vary by more than what is looked for; the best of each. */
constexpr int runs = 5;

void measure(const std::string &rxstall)
{
	const auto watch = [&rxstall](int seconds) {
		return bench::cost_of({rxstall, "watch", "--for",
				       std::to_string(seconds)}).cpu_ns;
	};
	/* Once unmeasured: files are read for the first time. */
	watch(1);

	auto begin_and_end = watch(short_s);
	auto all = watch(long_s);

	for (int run = 1; run < runs; run++) {
		begin_and_end = std::min(begin_and_end, watch(short_s));
		all = std::min(all, watch(long_s));
	}
	const auto scan = bench::cost_of({rxstall, "sockets"}).cpu_ns;

	std::cout << Json{{"table", "watch"},
			  {"seconds", long_s - short_s},
			  {"instructions", all - begin_and_end},
			  {"scan_instructions", scan}}
		  << std::endl;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 2) {
		std::cerr << "usage: watch_idle RXSTALL\n";
		return 2;
	}
	measure(argv[1]);
	return 0;
} catch (const std::exception &error) {
	std::cerr << "watch_idle: " << error.what() << '\n';
	return 1;
}
