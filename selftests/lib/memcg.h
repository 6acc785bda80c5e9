// SPDX-License-Identifier: GPL-2.0
/*
 * A memory control group for the calling process, to see the socket memory that
 * is charged to it (memory.stat of cgroup2). The hierarchy is mounted for this
 * process alone.
 */
#pragma once

#include <cstdint>
#include <string>

namespace selftest {

class MemoryCgroup {
public:
	/**
	 * Makes a group and moves the process into it. Throws Skip when it must
	 * not, or when the kernel has no memory controller for cgroup2.
	 */
	MemoryCgroup();
	/** Moves the process back and removes the group. */
	~MemoryCgroup();
	MemoryCgroup(const MemoryCgroup &) = delete;
	MemoryCgroup &operator=(const MemoryCgroup &) = delete;

	/** Bytes of socket buffers charged to the group. */
	[[nodiscard]] std::int64_t socket_bytes() const;

private:
	void remove() noexcept;

	std::string root_;
	std::string group_{};
	std::string before_{};		/* where the process came from */
	bool enabled_ = false;		/* the controller, by us */
};

} // namespace selftest
