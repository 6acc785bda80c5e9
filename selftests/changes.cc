// SPDX-License-Identifier: GPL-2.0
/*
 * What changes while sockets exist: the value of the sysctl, and whether anybody
 * but a socket keeps its network namespace.
 */
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"
#include "lib/sysctl.h"
#include "lib/veth.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 20;

/** The value when the RST comes decides, not the one when the FIN came. */
void value_at_the_rst()
{
	Wire wire;

	for (const Purge before : purge_values)
		for (const Purge after : purge_values) {
			set_purge(before);
			auto [app, peer] = wire.connect(Family::v4);

			send_and_fin(*peer, payload);
			set_purge(after);
			peer->send(rst());
			expect_eq(app.facts().rmem == 0, purges(after, payload),
				  "whether nothing is held after a change to " +
					  std::string(to_string(after)));
		}
}

/** Whether it was purged; throws unless all there is to see says the same. */
bool consistent_end(Connection &connection)
{
	const bool purged = connection.app.facts().rmem == 0;

	expect_eq(two_reads(connection.app),
		  purged ? "ECONNRESET 0" : "20 0", "recv");
	expect_eq(errno_name(connection.app.take_so_error()),
		  purged ? "0" : "EPIPE", "SO_ERROR");
	return purged;
}

void value_changes_all_the_time()
{
	Wire wire;
	const Counters before = Counters::read();
	std::atomic<bool> done = false;
	std::thread changer([&done] {
		for (int i = 0; !done; i++)
			set_purge(purge_values[i % 3]);
	});
	int purged = 0;

	try {
		for (int i = 0; i < 300; i++) {
			auto connection = wire.connect(Family::v4);

			send_and_fin(*connection.peer, payload);
			connection.peer->send(rst());
			purged += consistent_end(connection);
		}
	} catch (...) {
		done = true;
		changer.join();
		throw;
	}
	done = true;
	changer.join();
	expect(purged > 0 && purged < 300, "both values were met");
	for (const char *name :
	     {"TcpExtTCPRcvQPurged", "TcpExtTCPRcvQPurgedUnread"})
		expect_eq(Counters::read().since(before, name), purged, name);
}

void wait_until_gone(const Netns &where, const char *device)
{
	const auto inside = where.enter();

	for (int tries = 0; ::if_nametoindex(device); tries++) {
		expect(tries < 300, "the namespace goes with its last socket");
		::poll(nullptr, 0, 100);
	}
}

/**
 * Only the socket keeps its network namespace alive while the RST comes, and
 * closing it deletes the namespace: the veth in it takes its peer with it.
 */
void last_socket_of_a_namespace(Purge value, std::size_t bytes)
{
	const Netns peer = Netns::create();
	unique_fd fd;

	{
		const Netns receiver = Netns::create();
		VethLink link(peer, receiver);

		{
			const auto inside = receiver.enter();

			set_purge(value);
		}
		fd = abandoned_connection(link, peer, receiver, {bytes, false});
	}
	/* The peer has closed its socket: it answers with a RST. */
	check(::send(fd.get(), "x", 1, MSG_NOSIGNAL), "send");
	wait_for_state(fd.get(), CLOSE);
	expect_eq(facts_of(fd.get()).rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	fd.reset();
	wait_until_gone(peer, VethLink::peer_name);
}

std::vector<Test> all()
{
	std::vector<Test> tests = {
		{"value/at_the_rst", Needs::purge_sysctl, value_at_the_rst},
		{"value/changes_all_the_time", Needs::purge_sysctl,
		 value_changes_all_the_time},
	};

	for (const Purge value : purge_values)
		for (const std::size_t bytes : {std::size_t{0}, payload})
			tests.push_back(
				{"namespace_gone/" +
					 std::string(to_string(value)) +
					 (bytes ? "/unread" : "/fin_only"),
				 Needs::purge_sysctl,
				 [value, bytes] {
					 last_socket_of_a_namespace(value, bytes);
				 },
				 !purges(value, bytes)});
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
