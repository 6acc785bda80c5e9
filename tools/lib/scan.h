/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding the sockets behind descriptors. Two methods give the same facts:
 * the BPF iterator, and the walk over /proc, which borrows what it suspects.
 */
#pragma once

#include <unordered_map>
#include <vector>

#include "facts.h"
#include "result.h"
#include "stop.h"

namespace rxstall {

struct ScanRequest {
	uint32_t states = 0;		/* mask of 1 << state that is wanted */
	/* inodes that sock_diag lists, sorted: alive, so not to be borrowed (walk only) */
	std::vector<uint32_t> listed;
	/* sockets and listeners, by inode, whose owners are wanted */
	std::unordered_map<uint64_t, std::vector<Owner>> owners;
	const Stop *stop = nullptr;	/* looked at often; what was found until then does not count */
};

struct Scan {
	std::vector<Socket> sockets;	/* each once, with all its owners */
	std::unordered_map<uint64_t, std::vector<Owner>> owners;
	std::vector<Pool> pools;	/* that pages of these sockets belong to */
	uint64_t closed_seen = 0;
	uint64_t mptcp = 0;
	uint64_t refused = 0;		/* processes */
};

/* Errors: EPERM, or libbpf's, when the iterator cannot be loaded: walk instead. */
[[nodiscard]] Result<Scan> scan_bpf(const ScanRequest &request);

/* Works anywhere; what it may not look at is counted. */
[[nodiscard]] Scan scan_walk(const ScanRequest &request);

} // namespace rxstall
