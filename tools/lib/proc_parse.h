/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The texts under /proc, as values. Each function takes a whole file's text
 * and skips what it does not know.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rxstall {

/*
 * /proc/PID/cgroup: the systemd unit ("nginx.service"), or the container
 * ("container:0123456789ab") where one is found. Empty for the root group.
 */
[[nodiscard]] std::string parse_cgroup(std::string_view text);

struct SockstatTcp {
	uint64_t inuse = 0;
	uint64_t alloc = 0;
	uint64_t mem_pages = 0;
};

/* The line "TCP:" of /proc/net/sockstat, or "TCP6:" of sockstat6. */
[[nodiscard]] SockstatTcp parse_sockstat(std::string_view text);

/* scm_fds of a unix socket's fdinfo: descriptors waiting in its queue. */
[[nodiscard]] uint64_t parse_scm_fds(std::string_view text);

/* TCP sockets that an io_uring's fdinfo lists among its registered files. */
struct UringFiles {
	std::vector<uint64_t> inodes;
	uint64_t unnamed = 0;	/* up to Linux 6.12 only the protocol's name is there */
};

[[nodiscard]] UringFiles parse_uring_files(std::string_view text);

/* Mount points of network namespaces in /proc/PID/mountinfo. */
[[nodiscard]] std::vector<std::string> parse_netns_mounts(std::string_view text);

/* N of "socket:[N]", as /proc/PID/fd links read. */
[[nodiscard]] std::optional<uint64_t> parse_socket_link(std::string_view text);

} // namespace rxstall
