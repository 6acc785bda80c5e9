// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace rxstall {

using namespace std::chrono_literals;

Progress::Progress(std::string what, size_t total)
	: what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO)),
	  next_(std::chrono::steady_clock::now() + 1s)
{
}

Progress::~Progress()
{
	if (shown_)
		fmt::print(stderr, "\r\033[K");
}

void Progress::step()
{
	done_++;
	if (!terminal_ || std::chrono::steady_clock::now() < next_)
		return;
	fmt::print(stderr, "\r{} of {} {}\033[K", done_, total_, what_);
	shown_ = true;
	next_ += 200ms;
}

} // namespace rxstall
