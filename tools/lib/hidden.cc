// SPDX-License-Identifier: GPL-2.0
#include "hidden.h"

#include <unordered_set>

#include "proc.h"
#include "proc_parse.h"

namespace rxstall {

Rings find_hidden(Hidden &hidden)
{
	std::unordered_set<uint64_t> sockets;
	Rings rings;

	for (int pid : list_processes()) {
		const std::string base = "/proc/" + std::to_string(pid) + "/fdinfo/";
		(void)each_descriptor(pid, [&](int fd, std::string_view link) {
			if (auto inode = parse_socket_link(link)) {
				/* several processes may share the socket: count its queue once */
				if (sockets.insert(*inode).second)
					hidden.in_flight += parse_scm_fds(
						read_file(base + std::to_string(fd)).value_or(""));
			} else if (link == "anon_inode:[io_uring]") {
				const ProcessName name = name_process(pid);
				for (uint64_t inode : parse_uring_files(
					     read_file(base + std::to_string(fd)).value_or("")))
					rings.try_emplace(inode, Owner{Holder::io_uring, pid, pid, fd,
								       name.comm, name.unit});
			}
		});
	}
	for (const auto &[inode, owner] : rings)
		hidden.io_uring += !sockets.contains(inode);
	return rings;
}

} // namespace rxstall
