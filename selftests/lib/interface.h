// SPDX-License-Identifier: GPL-2.0
/*
 * The few things tests do to a network device that exists: its address and its
 * flags, by ioctl, in the calling thread's network namespace.
 */
#pragma once

#include <string>

namespace selftest {

/** Sets or clears IFF_UP; throws std::system_error naming the device. */
void interface_up(const std::string &name, bool up);

/** Sets an IPv4 address and netmask; throws std::system_error. */
void interface_address(const std::string &name, const char *ip,
		       const char *netmask);

} // namespace selftest
