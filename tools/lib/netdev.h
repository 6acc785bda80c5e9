/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Asks the netdev generic netlink family (Linux 6.8) for the page pools of
 * the calling thread's network namespace.
 */
#pragma once

#include <vector>

#include "facts.h"
#include "result.h"

namespace rxstall {

/*
 * The pools whose driver names its device to the pool; veth's never do.
 * Device and driver are filled in while the device exists. Errors: ENOENT
 * when the kernel lacks the family, EOPNOTSUPP when it lacks the command.
 */
[[nodiscard]] Result<std::vector<Pool>> list_pools();

/* Driver, version and firmware of a device here; empty strings if it has gone. */
struct Driver {
	std::string name;
	std::string version;
	std::string firmware;
};

[[nodiscard]] Driver driver_of(const std::string &device);

} // namespace rxstall
