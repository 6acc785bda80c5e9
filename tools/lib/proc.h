/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading /proc: processes, their names, and small files whole.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fd.h"
#include "result.h"

namespace rxstall {

/* A file's text, up to a limit that no file read here exceeds. */
[[nodiscard]] Result<std::string> read_file(const std::string &path, size_t limit = 1 << 20);

/* The processes of this PID namespace, in no order. */
[[nodiscard]] std::vector<int> list_processes();

struct ProcessName {
	std::string comm;
	std::string unit;	/* systemd unit or container */
};

/* Empty strings for a process that has gone. */
[[nodiscard]] ProcessName name_process(int pid);

/*
 * Calls visit with each descriptor number of a process and the text of its
 * link. Errors: EACCES or EPERM for a protected process, ENOENT for one that
 * has gone.
 */
[[nodiscard]] Result<void> each_descriptor(
	int pid, const std::function<void(int fd, std::string_view link)> &visit);

} // namespace rxstall
