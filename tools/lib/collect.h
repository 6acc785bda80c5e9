/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collecting a snapshot of this host. Nothing is changed by it, and what
 * cannot be had is left out and named in the snapshot's notes.
 */
#pragma once

#include <string>

#include "facts.h"
#include "result.h"
#include "stop.h"

namespace rxstall {

struct CollectRequest {
	uint32_t states = 0;	/* mask of 1 << state; 0: no sockets */
	std::string method;	/* "bpf", "walk", or empty for the best that works */
	bool host = false;	/* features and network devices */
	bool pools = false;
	double listen = 0;	/* seconds to listen for pool events */
	const Stop *stop = nullptr;	/* a signal ends the scan of sockets early */
};

/* Errors: a forced method that does not work here; ECANCELED after a signal. */
[[nodiscard]] Result<Snapshot> collect(const CollectRequest &request);

/* Who, when and where: the part of a snapshot that costs nothing. */
[[nodiscard]] Snapshot begin_snapshot();

/* CLOCK_BOOTTIME in seconds. */
[[nodiscard]] double boot_seconds();

} // namespace rxstall
