// SPDX-License-Identifier: GPL-2.0
#include <csignal>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/collect.h"
#include "lib/judge.h"
#include "lib/scan.h"
#include "lib/task.h"

using namespace rxstall;

namespace {

/* Whether the walk finds the owner of a socket that a child of ours has, too. */
bool walk_finds(const Stop *stop)
{
	const Fd fd(socket(AF_INET, SOCK_STREAM, 0));
	struct stat status{};
	fstat(fd.get(), &status);
	auto child = Task::start([] {
		pause();
		return std::string();
	});
	ScanRequest request;
	request.owners[status.st_ino];
	request.stop = stop;
	return child && !scan_walk(request).owners.empty();
}

bool is_canceled(const std::string &method, const Stop &stop)
{
	CollectRequest request;
	request.states = over_mask();
	request.method = method;
	request.stop = &stop;
	auto snapshot = collect(request);
	return !snapshot && snapshot.error().code == ECANCELED;
}

/* In a process of its own, for the signal stays pending. */
int stopped_scans()
{
	const Stop stop;
	if (!walk_finds(&stop))
		return 1;
	raise(SIGTERM);
	if (walk_finds(&stop))
		return 2;
	if (!is_canceled("walk", stop))
		return 3;
	return is_canceled("", stop) ? 0 : 4;
}

} // namespace

TEST(Stop, ASignalEndsAScan)
{
	EXPECT_EXIT(std::_Exit(stopped_scans()), testing::ExitedWithCode(0), "");
}
