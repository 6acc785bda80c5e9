/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the kernel log for stalled page pools.
 */
#pragma once

#include <vector>

#include "facts.h"
#include "fd.h"
#include "result.h"

namespace rxstall {

class Klog {
public:
	/* Errors: EPERM without CAP_SYSLOG where dmesg is restricted. */
	static Result<Klog> open();

	/* The warnings that have come since the last call; at first, all that are left. */
	std::vector<PoolReport> read_new();

	/* For poll(2). */
	int fd() const { return fd_.get(); }

	/* Skips what is there already. */
	void skip_old();

private:
	explicit Klog(Fd fd) : fd_(std::move(fd)) {}

	Fd fd_;
};

} // namespace rxstall
