// SPDX-License-Identifier: GPL-2.0
#include "limits.h"

#include "judge.h"
#include "proc.h"

namespace rxstall {

std::map<int, uint64_t> descriptor_limits(const Snapshot &snapshot)
{
	std::map<int, uint64_t> limits;
	for (const Socket &socket : snapshot.sockets) {
		if (!matches({}, socket))
			continue;
		for (const Owner &owner : socket.owners) {
			if (owner.holder != Holder::process || limits.contains(owner.pid))
				continue;
			const std::string path = "/proc/" + std::to_string(owner.pid) + "/limits";
			if (auto limit = parse_open_files(read_file(path).value_or("")))
				limits[owner.pid] = *limit;
		}
	}
	return limits;
}

} // namespace rxstall
