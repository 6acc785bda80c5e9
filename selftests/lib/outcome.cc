// SPDX-License-Identifier: GPL-2.0
#include "outcome.h"

#include <csignal>
#include <cstring>

#include "checked.h"

namespace selftest {

namespace {

thread_local volatile std::sig_atomic_t sigpipe_count;

extern "C" void count_sigpipe(int)
{
	sigpipe_count = sigpipe_count + 1;
}

bool install_handler()
{
	struct sigaction action {};

	action.sa_handler = count_sigpipe;
	action.sa_flags = SA_RESTART;
	check(::sigaction(SIGPIPE, &action, nullptr), "sigaction");
	return true;
}

} // namespace

int sigpipes_seen()
{
	static const bool installed = install_handler();

	return installed ? sigpipe_count : 0;
}

std::string errno_name(int error)
{
	const char *name = ::strerrorname_np(error);

	return name != nullptr ? name : "errno " + std::to_string(error);
}

std::string to_string(const Outcome &outcome)
{
	std::string text = outcome.error != 0 ? errno_name(outcome.error)
					      : std::to_string(outcome.value);

	if (outcome.sigpipes > 0)
		text += "+SIGPIPE";
	if (outcome.sigpipes > 1)
		text += " x " + std::to_string(outcome.sigpipes);
	return text;
}

} // namespace selftest
