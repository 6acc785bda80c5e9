/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sysctl net.ipv4.tcp_purge_receive_queue of the calling thread's
 * network namespace.
 */
#pragma once

#include <optional>

#include "fd.h"
#include "result.h"

namespace rxstall {

/* Its value, or nothing if this kernel lacks it. */
[[nodiscard]] std::optional<int> read_purge();

/*
 * The open file, to be read and written, stays bound to the namespace it was
 * opened in, without keeping it alive: then it gives ENOENT. Errors: ENOENT if the kernel lacks the knob, EACCES.
 */
[[nodiscard]] Result<Fd> open_purge();

/* Errors: as write(2) gives them; EINVAL for a value the kernel does not know. */
[[nodiscard]] Result<void> write_purge(int fd, int value);

} // namespace rxstall
