// SPDX-License-Identifier: GPL-2.0
#include "bench/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string_view>

#include "lib/checked.h"

namespace bench {

using selftest::check;
using selftest::fail;

namespace {

std::int64_t nanoseconds(const timeval &time)
{
	return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1000LL;
}

/** Starts it with its output going to /dev/null. */
pid_t start(std::vector<std::string> words)
{
	std::vector<char *> arguments;
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;

	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	::posix_spawn_file_actions_init(&actions);
	for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
		::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null",
						   O_WRONLY, 0);

	const int error = ::posix_spawnp(&pid, arguments[0], &actions, nullptr,
					 arguments.data(), environ);

	::posix_spawn_file_actions_destroy(&actions);
	if (error)
		fail(error, words[0]);
	return pid;
}

} // namespace

Cost cost_of(const std::vector<std::string> &words)
{
	using Clock = std::chrono::steady_clock;
	const auto begin = Clock::now();
	const pid_t pid = start(words);
	rusage usage{};
	int status = 0;

	check(::wait4(pid, &status, 0, &usage), "wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		throw std::runtime_error(words[0] + " failed");
	return {std::chrono::nanoseconds(Clock::now() - begin).count(),
		nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
		usage.ru_maxrss};
}

int measure_program(const char *name,
		    void (*measure)(const std::string &rxstall, bool quick),
		    int argc, char **argv)
try {
	const bool quick = argc == 3 && std::string_view(argv[1]) == "--quick";

	if (argc != (quick ? 3 : 2)) {
		std::cerr << "usage: " << name << " [--quick] RXSTALL\n";
		return 2;
	}
	measure(argv[argc - 1], quick);
	return 0;
} catch (const std::exception &error) {
	std::cerr << name << ": " << error.what() << '\n';
	return 1;
}

} // namespace bench
