// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that block, in threads of their own: a reader asleep in the kernel, and
 * a writer that keeps the socket locked, so that what arrives meanwhile goes to
 * the backlog and is processed in one go when the lock is released.
 */
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "outcome.h"
#include "unique_fd.h"

namespace selftest {

/** Takes O_NONBLOCK off @fd; throws. */
void make_blocking(int fd);

/** A call in a thread of its own. */
class Waiting {
public:
	/** Returns once the thread sleeps in @call. Throws if it never does. */
	explicit Waiting(std::function<Outcome()> call);
	~Waiting();
	Waiting(const Waiting &) = delete;
	Waiting &operator=(const Waiting &) = delete;

	/** What the call did; throws std::runtime_error if it still sleeps. */
	Outcome outcome();

private:
	std::future<Outcome> outcome_;
	std::thread thread_;
};

/** A socket that a process keeps locked in the middle of send(). */
class Locked {
public:
	/**
	 * Returns once @socket is locked: a thread sends one byte out of a page
	 * that userfaultfd(2) does not deliver. Throws Skip where that is
	 * missing or refused (it takes CAP_SYS_PTRACE).
	 */
	explicit Locked(int socket);
	/** The send ends, the backlog is processed, the socket is free. */
	~Locked();
	Locked(const Locked &) = delete;
	Locked &operator=(const Locked &) = delete;

private:
	unique_fd faults_;
	void *page_;
	std::thread sender_;
};

} // namespace selftest
