// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel log from now on, read from /dev/kmsg.
 */
#pragma once

#include <string>
#include <vector>

#include "unique_fd.h"

namespace selftest {

class Kmsg {
public:
	/** Begins at the end of the log. Throws std::system_error. */
	Kmsg();

	/** The messages since the last call, without their prefix; no waiting. */
	std::vector<std::string> read();

private:
	unique_fd fd_;
};

} // namespace selftest
