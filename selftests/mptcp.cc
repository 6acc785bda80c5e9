// SPDX-License-Identifier: GPL-2.0
/*
 * MPTCP sockets: a subflow whose peer ends it in CLOSE_WAIT keeps what is in its
 * queue, with every value of the sysctl, because the MPTCP socket above has yet
 * to take it over. A plain TCP connection to an MPTCP listener is TCP.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/intruder.h"
#include "lib/ktap.h"
#include "lib/loopback.h"
#include "lib/scenario.h"
#include "lib/sysctl.h"

namespace {

using namespace selftest;

void require_mptcp()
{
	if (sysctl_read("net.mptcp.enabled").value_or("0") != "1")
		throw Skip("this kernel has no MPTCP");
}

/** What there is to read until nothing comes any more; it must be pattern(). */
std::size_t read_all(TcpSocket &app)
{
	std::string all;

	for (;;) {
		pollfd ready{app.fd(), POLLIN, 0};

		if (!check(::poll(&ready, 1, 500), "poll"))
			break;
		const Outcome outcome = app.recv(65536);

		if (outcome.value <= 0)
			break;
		all += outcome.data;
	}
	expect(all == pattern(0, all.size()),
	       "the bytes are those that the peer sent");
	return all.size();
}

/** The subflow as sock_diag shows it, as long as it is hashed. */
DiagFacts subflow(const Address &local, const Address &remote)
{
	const auto found = diag_lookup(Family::v4, local, remote);

	expect(found.has_value(), "sock_diag shows the subflow");
	return *found;
}

/** Whether the subflow itself holds payload: newer kernels move it all. */
bool holds_payload(const DiagFacts &facts)
{
	return facts.rqueue > 1;
}

void wait_until_unhashed(const Address &local, const Address &remote)
{
	for (int tries = 0; diag_lookup(Family::v4, local, remote); tries++) {
		expect(tries < 2000, "the RST ends the subflow");
		::poll(nullptr, 0, 1);
	}
}

constexpr std::size_t piece = 1000;
constexpr std::size_t pieces = 8;

/**
 * Sends with @send so much that the MPTCP socket has more than its buffer, which
 * shrinks meanwhile: the last piece stays in the subflow. Returns the bytes sent.
 * Throws Skip where it does not stay: 7.3 drops it, with or without the patches.
 */
std::size_t fill(TcpSocket &app, const std::function<void(std::size_t)> &send,
		 const Address &local, const Address &remote)
{
	for (std::size_t i = 0; i < pieces; i++) {
		if (i == pieces - 1)
			app.set(SOL_SOCKET, SO_RCVBUF, 1);
		send(i * piece);
	}
	if (!holds_payload(subflow(local, remote)))
		throw Skip("the MPTCP socket takes everything over at once, "
			   "so that its subflow holds no payload");
	return pieces * piece;
}

/** Sends @length bytes of the pattern and waits until they are acknowledged. */
void send_acknowledged(TcpSocket &peer, Intruder &intruder,
		       std::size_t position, std::size_t length)
{
	const std::string text =
		pattern(static_cast<std::int64_t>(position), length);

	check(::send(peer.fd(), text.data(), text.size(), 0), "send");
	for (int tries = 0; intruder.acknowledged() < position + length;
	     tries++) {
		expect(tries < 2000, "the payload is acknowledged");
		::poll(nullptr, 0, 1);
		intruder.listen();
	}
}

/** Both ends speak MPTCP; FIN and RST of the subflow are put in by us. */
struct BothMptcp {
	Intruder intruder{};
	LoopbackPair pair = loopback_pair(IPPROTO_MPTCP);
	Address local = local_address(pair.app.fd());
	Address remote = local_address(pair.peer.fd());

	BothMptcp()
	{
		pair.peer.set(IPPROTO_TCP, TCP_NODELAY, 1);
		intruder.watch(local.port(), remote.port());
	}

	/** Ends the subflow, and reads the @bytes that came before. */
	void end_and_read(std::size_t bytes)
	{
		const Counters before = Counters::read();

		intruder.send(FIN | ACK);
		intruder.send(RST);
		wait_until_unhashed(local, remote);
		expect_counted(before, 0, 0);
		expect_eq(read_all(pair.app), bytes, "bytes read");
	}
};

void both(Purge value)
{
	require_mptcp();
	set_purge(value);
	BothMptcp ends;

	ends.end_and_read(fill(
		ends.pair.app,
		[&](std::size_t position) {
			send_acknowledged(ends.pair.peer, ends.intruder,
					  position, piece);
		},
		ends.local, ends.remote));
}

/** The peer has ended the MPTCP connection, too, behind its payload. */
void both_with_data_fin(Purge value)
{
	require_mptcp();
	set_purge(value);
	BothMptcp ends;
	pollfd ended{ends.pair.app.fd(), POLLRDHUP, 0};

	send_acknowledged(ends.pair.peer, ends.intruder, 0, piece);
	check(::shutdown(ends.pair.peer.fd(), SHUT_WR), "shutdown");
	expect_eq(check(::poll(&ended, 1, 2000), "poll"), 1,
		  "poll for the DATA_FIN");
	ends.intruder.listen();
	ends.end_and_read(piece);
}

/**
 * The peer answers as plain TCP: an MPTCP socket over one TCP connection. The
 * payload is taken over at once: where the subflow has to hold it, 6.12 loses a
 * byte of it when the connection ends, with or without the patches.
 */
void fallback(Purge value)
{
	Wire wire;

	require_mptcp();
	set_purge(value);
	TcpSocket app = TcpSocket::create(Family::v4, IPPROTO_MPTCP);
	const auto peer = wire.connect(app, Family::v4);
	const Path &path = peer->path();
	const Address local = kernel_address(Family::v4, path.kernel_port);
	const Address remote =
		peer_address(Family::v4, path.host, path.peer_port);

	peer->send(data(piece));

	const Counters before = Counters::read();

	peer->send(fin());
	expect_eq(state_name(subflow(local, remote).state), "CLOSE_WAIT",
		  "the subflow's state");
	peer->send(rst());
	expect_counted(before, 0, 0);
	expect_eq(read_all(app), piece, "bytes read");
}

/** Accepted from a plain TCP peer, the socket is plain TCP, and is purged. */
void plain_peer_of_mptcp_listener(Purge value, std::size_t bytes)
{
	Wire wire;

	require_mptcp();
	set_purge(value);
	Listener listener(Family::v4, 1, IPPROTO_MPTCP);
	auto [app, peer] = wire.accept(listener);

	send_and_fin(*peer, bytes);
	peer->send(rst());
	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	expect_eq(two_reads(app), reads_after_reset(value, bytes), "recv");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Purge value : purge_values) {
		const std::string name = to_string(value);

		tests.push_back({name + "/both", Needs::purge_sysctl,
				 [value] { both(value); }, true});
		tests.push_back({name + "/both_data_fin", Needs::purge_sysctl,
				 [value] { both_with_data_fin(value); }, true});
		tests.push_back({name + "/fallback", Needs::purge_sysctl,
				 [value] { fallback(value); }, true});
		for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}})
			tests.push_back(
				{name + "/plain_peer" +
					 (bytes ? "/unread" : "/fin_only"),
				 Needs::purge_sysctl,
				 [value, bytes] {
					 plain_peer_of_mptcp_listener(value,
								      bytes);
				 },
				 !purges(value, bytes)});
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
