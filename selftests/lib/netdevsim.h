// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated network device (drivers/net/netdevsim) with a page_pool that has a
 * netdev, which veth's has not, and a knob that holds one page of it.
 */
#pragma once

#include <string>

namespace selftest {

class Netdevsim {
public:
	/**
	 * Makes the device in the calling thread's network namespace. Throws
	 * Skip when the kernel has no netdevsim; needs root, sysfs and debugfs.
	 */
	Netdevsim();
	~Netdevsim();
	Netdevsim(const Netdevsim &) = delete;
	Netdevsim &operator=(const Netdevsim &) = delete;

	/** Up makes the pool, down destroys it. */
	void up();
	void down();

	/** Takes one page of the pool and keeps it, or puts it back. */
	void hold_page(bool hold);

	/** Deletes the device; the page comes back with it. */
	void remove();

	[[nodiscard]] int ifindex() const { return ifindex_; }

private:
	std::string id_;
	int ifindex_ = 0;
};

} // namespace selftest
