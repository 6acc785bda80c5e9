// SPDX-License-Identifier: GPL-2.0
#include "hidden.h"

#include <map>
#include <unordered_set>

#include "proc.h"
#include "proc_parse.h"

namespace rxstall {

namespace {

/* Sockets of rings that no process has a descriptor of. */
void add_rings(const Rings &rings, const std::unordered_set<uint64_t> &sockets, Hidden &hidden)
{
	std::map<std::pair<int, int>, HiddenHolder> found;
	for (const auto &[inode, owner] : rings) {
		if (sockets.contains(inode))
			continue;
		hidden.io_uring++;
		HiddenHolder &entry = found[{owner.pid, owner.fd}];
		entry.owner = owner;
		entry.count++;
	}
	for (auto &[ring, entry] : found)
		hidden.holders.push_back(std::move(entry));
}

} // namespace

Rings find_hidden(Hidden &hidden, const Stop *stop)
{
	std::unordered_set<uint64_t> sockets;
	Rings rings;

	unsigned looked = 0;
	bool stopped = false;
	for (int pid : list_processes()) {
		const std::string base = "/proc/" + std::to_string(pid) + "/fdinfo/";
		(void)each_descriptor(pid, [&](int fd, std::string_view link) {
			if (looked++ % 256 == 0)
				stopped = stopped || Stop::requested(stop);
			if (stopped)
				return;
			const auto inode = parse_socket_link(link);
			const bool ring = link == "anon_inode:[io_uring]";
			/* several processes may share the socket: count its queue once */
			if (!ring && (!inode || !sockets.insert(*inode).second))
				return;
			const std::string info = read_file(base + std::to_string(fd)).value_or("");
			const uint64_t passed = ring ? 0 : parse_scm_fds(info);
			const UringFiles files = ring ? parse_uring_files(info) : UringFiles();
			if (!passed && files.inodes.empty() && !files.unnamed)
				return;
			const ProcessName name = name_process(pid);
			Owner owner{ring ? Holder::io_uring : Holder::in_flight, pid, pid, fd,
				    name.comm, name.unit};
			hidden.in_flight += passed;
			hidden.io_uring += files.unnamed;
			if (passed || files.unnamed)
				hidden.holders.push_back({owner, passed + files.unnamed});
			for (uint64_t file : files.inodes)
				rings.try_emplace(file, owner);
		});
	}
	add_rings(rings, sockets, hidden);
	return rings;
}

} // namespace rxstall
