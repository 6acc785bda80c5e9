// SPDX-License-Identifier: GPL-2.0
#include "stop.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <system_error>

namespace rxstall {

Stop::Stop()
{
	sigset_t signals;
	sigemptyset(&signals);
	for (int signal : {SIGINT, SIGTERM, SIGHUP})
		sigaddset(&signals, signal);
	sigprocmask(SIG_BLOCK, &signals, nullptr);
	fd_ = Fd(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
	if (!fd_)
		throw std::system_error(errno, std::generic_category(), "signalfd");
}

bool Stop::wait(int milliseconds) const
{
	/* the signal is never taken out, so every later look finds it again */
	pollfd entry{fd_.get(), POLLIN, 0};
	return poll(&entry, 1, milliseconds) > 0;
}

} // namespace rxstall
