// SPDX-License-Identifier: GPL-2.0
#include "bench/setting.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "lib/checked.h"
#include "lib/sysctl.h"

namespace bench {

using namespace selftest;

namespace {

std::vector<Setting> settings()
{
	if (!sysctl_read(purge_sysctl))
		return {{"stock", Purge::off}};
	return {{"0", Purge::off}, {"1", Purge::flush}, {"2", Purge::lossless}};
}

} // namespace

void print(const char *table, const Setting &setting, const Json &record)
{
	Json line{{"table", table}, {"setting", setting.name}};

	line.update(record);
	fmt::print("{}\n", line.dump());
	std::fflush(stdout);
}

int run(const char *program, void (*measure)(const Request &), int argc,
	char **argv)
try {
	Request request{.settings = settings()};

	for (int i = 1; i < argc; i++) {
		const std::string_view word = argv[i];

		if (word == "--quick") {
			request.quick = true;
		} else if (word == "--sockets" && i + 1 < argc) {
			request.sockets = std::stoul(argv[++i]);
		} else if (word == "--only" && i + 1 < argc) {
			const std::string_view wanted = argv[++i];

			std::erase_if(request.settings, [wanted](auto &setting) {
				return setting.name != wanted;
			});
		} else {
			fmt::print(stderr, "usage: {} [--quick] [--sockets N] "
				   "[--only SETTING]\n",
				   program);
			return 2;
		}
	}
	if (request.settings.empty())
		throw std::runtime_error("this kernel has no such setting");
	measure(request);
	return 0;
} catch (const std::exception &error) {
	fmt::print(stderr, "{}: {}\n", program, error.what());
	return 1;
}

void in_child(const std::function<void()> &measure)
{
	int status = 0;
	const pid_t child = check(::fork(), "fork");

	if (child == 0) {
		try {
			measure();
		} catch (const std::exception &error) {
			fmt::print(stderr, "{}\n", error.what());
			std::_Exit(1);
		}
		std::_Exit(0);
	}
	check(::waitpid(child, &status, 0), "waitpid");
	if (status != 0)
		throw std::runtime_error("a measurement failed");
}

} // namespace bench
