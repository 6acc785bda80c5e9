// SPDX-License-Identifier: GPL-2.0
/*
 * What one system call on the socket under test did: its value or errno, the
 * data it brought, and whether SIGPIPE was raised. Failing is a result here,
 * not an exception.
 */
#pragma once

#include <sys/types.h>

#include <string>

namespace selftest {

struct Outcome {
	ssize_t value = 0;	/**< what the call returned, -1 on error */
	int error = 0;		/**< its errno, 0 without an error */
	int sigpipes = 0;	/**< SIGPIPEs the calling thread got meanwhile */
	std::string data;	/**< bytes received */
};

/**
 * In the words the tests compare with: "20", "0", "ECONNRESET",
 * "EPIPE+SIGPIPE".
 */
std::string to_string(const Outcome &outcome);

/** "ECONNRESET"; the number where libc has no name for it. */
std::string errno_name(int error);

/**
 * Counts SIGPIPE instead of dying of it. Installed by the first call and kept:
 * tests send without MSG_NOSIGNAL to see whether the signal comes. Returns how
 * many the calling thread has had (tcp_sendmsg raises it in the sender).
 */
int sigpipes_seen();

/** Runs @call, a system call wrapper that sets errno, and notes what it did. */
template <class Call> Outcome outcome_of(Call call);

} // namespace selftest

#include <cerrno>

template <class Call> selftest::Outcome selftest::outcome_of(Call call)
{
	Outcome outcome;
	const int before = sigpipes_seen();

	errno = 0;
	outcome.value = call();
	outcome.error = outcome.value < 0 ? errno : 0;
	outcome.sigpipes = sigpipes_seen() - before;
	return outcome;
}
