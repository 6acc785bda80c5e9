// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of system calls as exceptions. A selftest cannot go on after a call
 * that its set-up needs has failed, so such calls throw std::system_error with
 * the name of the call. Calls whose failure is what a test looks at do not come
 * through here: they return an Outcome (outcome.h) or an errno.
 */
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace selftest {

/** Throws std::system_error(@error) whose text begins with @what. */
[[noreturn]] inline void fail(int error, const std::string &what)
{
	throw std::system_error(error, std::generic_category(), what);
}

/**
 * Passes on what a system call returned; throws std::system_error(errno) when
 * it is negative. @what names the call and, where it helps, its object.
 */
template <class T> T check(T returned, const char *what)
{
	if (returned < 0)
		fail(errno, what);
	return returned;
}

} // namespace selftest
