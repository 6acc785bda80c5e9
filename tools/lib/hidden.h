/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Descriptors that are in no /proc/PID/fd: those in flight on unix sockets,
 * which can only be counted but whose receiver is known, and those registered with an io_uring, which
 * its fdinfo names.
 */
#pragma once

#include <unordered_map>

#include "facts.h"
#include "stop.h"

namespace rxstall {

/* The owners of registered sockets, by inode. */
using Rings = std::unordered_map<uint64_t, Owner>;

/* Fills in_flight, io_uring and holders. Reads every unix socket's fdinfo: not cheap. stop may end it early. */
[[nodiscard]] Rings find_hidden(Hidden &hidden, const Stop *stop);

} // namespace rxstall
