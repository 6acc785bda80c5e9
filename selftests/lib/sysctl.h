// SPDX-License-Identifier: GPL-2.0
/*
 * Sysctls of the calling thread's network namespace, by their dotted name.
 * /proc/sys/net shows each reader its own namespace's values
 * (net/sysctl_net.c, net_ctl_header_lookup), so entering a namespace is enough.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace selftest {

/** The sysctl under test. */
inline constexpr std::string_view purge_sysctl =
	"net.ipv4.tcp_purge_receive_queue";

/** The value without its newline; nothing when this kernel lacks @name. */
std::optional<std::string> sysctl_read(std::string_view name);

/** Returns 0, or the errno of opening or writing (ENOENT, EINVAL, EACCES). */
[[nodiscard]] int sysctl_write(std::string_view name, std::string_view value);

} // namespace selftest
