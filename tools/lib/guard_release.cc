// SPDX-License-Identifier: GPL-2.0
#include "guard_release.h"

#include <algorithm>

#include "collect.h"
#include "free.h"

namespace rxstall {

unsigned GuardRelease::room(double now)
{
	tried_.forget_old(now);
	return rate_.left(now);
}

uint64_t GuardRelease::release(std::vector<Socket> sockets, const Stop &stop)
{
	std::vector<Socket> done, failed;
	for (Socket &socket : sockets) {
		if (stop.wait(0))
			break;
		rate_.take();
		if (dry_run_) {
			tried_.add(socket, boot_seconds());
			done.push_back(std::move(socket));
			continue;
		}
		const Freed freed = free_socket(socket, {});
		if (freed.failed) {
			tried_.add(socket, boot_seconds());
			journal_.note(freed.text);
			failed.push_back(std::move(socket));
		} else if (freed.action != Action::leave) {
			socket.rmem = freed.before - freed.after;
			done.push_back(std::move(socket));
		}
	}
	if (dry_run_) {
		journal_.tell("would release", done);
		return 0;
	}
	if (!done.empty() && !kick_deferred())
		journal_.note("loopback is down here, so freed segments may wait on an idle CPU's list");
	journal_.tell("released", done);
	journal_.tell("could not release", failed);
	GuardState &state = journal_.state();
	state.released += done.size();
	state.released_bytes += sum(done).rmem;
	state.failed += failed.size();
	return static_cast<uint64_t>(std::count_if(done.begin(), done.end(), [](const Socket &socket) {
		return socket.state == State::close_wait;
	}));
}

} // namespace rxstall
