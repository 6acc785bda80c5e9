/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The outcome of something that can go wrong for reasons outside the
 * program: a value, or an Error whose text was written where the cause was
 * known. Exceptions are left for faults of the program itself.
 */
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace rxstall {

struct Error {
	int code = 0;		/* errno, or 0 when there was none */
	std::string text;	/* one line: what failed, and what to do */
};

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

/* Failure of a system call: "what: strerror(code)". */
[[nodiscard]] Failure failure(int code, const std::string &what);

/* Failure that no errno describes. */
[[nodiscard]] Failure failure(const std::string &what);

} // namespace rxstall
