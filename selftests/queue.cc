// SPDX-License-Identifier: GPL-2.0
/*
 * What counts as unread payload: segments read in part, a FIN merged into
 * payload or apart from it, and the offset of MSG_PEEK.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <sys/socket.h>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"

namespace {

using namespace selftest;

constexpr std::size_t room = 100;

/** The stages of a test whose RST finds @left. */
struct Shape {
	const char *name;
	void (*prepare)(TcpSocket &app, Peer &peer);
	Left left;
	const char *reads;	/* two recv() after the RST, if all is kept */
	int merged = 0;		/* segments the kernel merges into another */
};

/**
 * Somebody who looks at packets holds a clone of each: then the kernel cannot
 * merge the FIN into the payload before it (skb_try_coalesce()).
 */
unique_fd hold_clones()
{
	return unique_fd(check(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC,
					htons(ETH_P_ALL)),
			       "socket(AF_PACKET)"));
}

const Shape shapes[] = {
	{"half_read",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20).with(FIN));
		 read_exactly(app, 10);
	 },
	 Left::payload, "10 0"},
	{"one_byte_left",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20).with(FIN));
		 read_exactly(app, 19);
	 },
	 Left::payload, "1 0"},
	{"read_to_the_end",
	 [](TcpSocket &app, Peer &peer) {
		 /* The last read takes the merged FIN along. */
		 peer.send(data(20).with(FIN));
		 read_exactly(app, 20);
	 },
	 Left::nothing, "0 0"},
	{"read_then_fin",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20));
		 read_exactly(app, 20);
		 peer.send(fin());
	 },
	 Left::fin, "0 0"},
	{"half_read_then_fin",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20));
		 read_exactly(app, 10);
		 peer.send(fin());
	 },
	 Left::payload, "10 0", 1},
	{"fin_read",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(fin());
		 expect_eq(to_string(app.recv(room)), "0", "end of file");
	 },
	 Left::nothing, "0 0"},
	{"peeked",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20).with(FIN));
		 expect_eq(to_string(app.recv(room, MSG_PEEK | MSG_DONTWAIT)),
			   "20", "peek");
	 },
	 Left::payload, "20 0"},
	{"fin_out_of_order",
	 [](TcpSocket &, Peer &peer) {
		 peer.send(fin().at(20));
		 peer.send(data(20));
		 peer.send(fin());
	 },
	 Left::payload, "20 0", 1},
};

void one_shape(const Shape &shape, Purge value, bool clones)
{
	Wire wire;
	const unique_fd sniffer = clones ? hold_clones() : unique_fd();
	const bool purged = purges(value, shape.left);
	const bool lost = purged && shape.left == Left::payload;

	const Counters start = Counters::read();

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);

	shape.prepare(app, *peer);
	expect_eq(state_name(app.facts().state), "CLOSE_WAIT", "the state");
	expect_eq(Counters::read().since(start, "TcpExtTCPRcvCoalesce"),
		  clones ? 0 : shape.merged, "merged segments");
	expect_eq(app.facts().rmem == 0, shape.left == Left::nothing,
		  "whether nothing is held before the RST");

	const Counters before = Counters::read();

	peer->send(rst());
	expect_eq(state_name(app.facts().state), "CLOSE", "the state");
	expect_eq(app.facts().rmem == 0, purged || shape.left == Left::nothing,
		  "whether nothing is held");
	expect_eq(two_reads(app), lost ? "ECONNRESET 0" : shape.reads, "recv");
	expect_counted(before, purged, lost);
}

/** SO_PEEK_OFF before the RST, and where it is if 20 bytes are discarded. */
struct PeekOffset {
	const char *name;
	int before;
	int after;
};

const PeekOffset peek_offsets[] = {
	{"at_start", 0, 0}, {"within", 5, 0}, {"at_end", 20, 0},
	{"beyond", 50, 30}, {"none", -1, -1},
};

int peek_offset(const TcpSocket &app)
{
	int value = 0;
	socklen_t length = sizeof(value);

	check(::getsockopt(app.fd(), SOL_SOCKET, SO_PEEK_OFF, &value, &length),
	      "SO_PEEK_OFF");
	return value;
}

void peek_offset_moves(const PeekOffset &offset, Purge value,
		       std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);

	if (::setsockopt(app.fd(), SOL_SOCKET, SO_PEEK_OFF, &offset.before,
			 sizeof(offset.before)))
		throw Skip("TCP has no SO_PEEK_OFF here: " + errno_name(errno));
	send_and_fin(*peer, bytes);
	peer->send(rst());
	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	expect_eq(peek_offset(app),
		  bytes && purges(value, bytes) ? offset.after
							  : offset.before,
		  "the peek offset");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Purge value : purge_values) {
		const std::string prefix = std::string(to_string(value)) + '/';

		for (const bool clones : {false, true})
			for (const Shape &shape : shapes)
				tests.push_back(
					{prefix + (clones ? "apart/" : "merged/") +
						 shape.name,
					 Needs::purge_sysctl,
					 [&shape, value, clones] {
						 one_shape(shape, value, clones);
					 },
					 !purges(value, shape.left)});
		for (const PeekOffset &offset : peek_offsets)
			for (const std::size_t bytes :
			     {std::size_t{0}, std::size_t{20}})
				tests.push_back(
					{prefix + "peek_offset/" + offset.name +
						 (bytes ? "/unread" : "/fin_only"),
					 Needs::purge_sysctl,
					 [&offset, value, bytes] {
						 peek_offset_moves(offset, value,
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
