// SPDX-License-Identifier: GPL-2.0
#include "result.h"

#include <cstring>

namespace rxstall {

Failure failure(int code, const std::string &what)
{
	return Failure(Error{code, what + ": " + std::strerror(code)});
}

Failure failure(const std::string &what)
{
	return Failure(Error{0, what});
}

} // namespace rxstall
