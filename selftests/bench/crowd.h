// SPDX-License-Identifier: GPL-2.0
/*
 * Many sockets in many processes, for programs that look for the few that are
 * dead. All are in a network namespace of their own, over loopback, and go away
 * with the object.
 */
#pragma once

#include <sys/types.h>

#include <vector>

#include "lib/netns.h"

namespace bench {

struct CrowdSize {
	int sockets;	/**< both ends of a connection count */
	int processes;
	int dead;	/**< sockets that got FIN and RST; their peers are gone */
};

/** As many descriptors for this process and its children as there may be. */
void allow_descriptors();

/**
 * @count sockets in CLOSE with a FIN unread, in the calling thread's network
 * namespace. Throws std::system_error.
 */
std::vector<selftest::unique_fd> dead_sockets(int count);

class Crowd {
public:
	/** Returns when all sockets are there. Throws; needs root. */
	explicit Crowd(const CrowdSize &size);
	~Crowd();
	Crowd(const Crowd &) = delete;
	Crowd &operator=(const Crowd &) = delete;

	/** Their network namespace. */
	[[nodiscard]] const selftest::Netns &netns() const { return netns_; }

private:
	void add_process(const CrowdSize &size, int index, int ready);
	void end() noexcept;

	selftest::Netns netns_ = selftest::Netns::create();
	std::vector<pid_t> processes_;
};

} // namespace bench
