// SPDX-License-Identifier: GPL-2.0
#include "scenario.h"

#include "checked.h"
#include "sysctl.h"

namespace selftest {

const char *to_string(Purge value)
{
	switch (value) {
	case Purge::off:
		return "off";
	case Purge::flush:
		return "flush";
	case Purge::lossless:
		return "lossless";
	}
	return "?";
}

void set_purge(Purge value)
{
	const int error = sysctl_write(
		purge_sysctl, std::to_string(static_cast<int>(value)));

	if (error && error != ENOENT)
		fail(error, std::string(purge_sysctl));
}

void send_and_fin(Peer &peer, std::size_t bytes)
{
	/* Segments of at most the MSS, as a real peer's. */
	for (std::size_t sent = 0; sent < bytes;) {
		const std::size_t part = std::min<std::size_t>(bytes - sent, 1000);

		peer.send(data(part));
		sent += part;
	}
	peer.send(fin());
}

Connection abandoned(Wire &wire, Family family, Purge value,
		     std::size_t bytes)
{
	set_purge(value);

	Connection connection = wire.connect(family);

	send_and_fin(*connection.peer, bytes);
	connection.peer->send(rst());
	return connection;
}

} // namespace selftest
