// SPDX-License-Identifier: GPL-2.0
#include "scenario.h"

#include "checked.h"
#include "ktap.h"
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

void read_exactly(TcpSocket &app, std::size_t size, std::int64_t position)
{
	const Outcome outcome = app.recv(size);

	expect_eq(to_string(outcome), std::to_string(size), "recv");
	expect(outcome.data == pattern(position, size),
	       "the bytes are those that the peer sent");
}

std::string two_reads(TcpSocket &app)
{
	const std::string first = to_string(app.recv(100));

	return first + ' ' + to_string(app.recv(100));
}

std::string reads_after_reset(Purge value, std::size_t bytes)
{
	if (bytes && purges(value, bytes))
		return "ECONNRESET 0";
	return std::to_string(bytes) + " 0";
}

void expect_counted(const Counters &before, int purged, int unread)
{
	const Counters after = Counters::read();

	if (!before.has("TcpExtTCPRcvQPurged"))
		return;
	expect_eq(after.since(before, "TcpExtTCPRcvQPurged"), purged,
		  "TCPRcvQPurged");
	expect_eq(after.since(before, "TcpExtTCPRcvQPurgedUnread"), unread,
		  "TCPRcvQPurgedUnread");
}

} // namespace selftest
