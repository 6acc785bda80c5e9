// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: what lies behind the mark is unread payload although FIONREAD does
 * not count it, and after a purge there is neither a mark nor an urgent byte.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"

namespace {

using namespace selftest;

/** Urgent data, what the application has read of it, and what comes then. */
struct Urgent {
	const char *name;
	void (*prepare)(TcpSocket &app, Peer &peer);
	Left left;
	const char *mark;	/* SIOCATMARK, if all is kept */
	const char *mark_purged;/* the same, if only a FIN is freed */
	const char *oob;	/* recv(MSG_OOB), if all is kept */
	const char *reads;	/* two recv() after that */
};

/** All is read, and byte @mark of the stream was announced, not sent. */
void announced(TcpSocket &app, Peer &peer, std::uint16_t mark)
{
	peer.send(data(20).urgent(mark));
	read_exactly(app, 20);
	peer.send(fin());
}

const Urgent urgents[] = {
	{"unread_behind_the_mark",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20).urgent(6));
		 read_exactly(app, 5);
		 peer.send(fin());
		 expect_eq(app.facts().unread, 0, "FIONREAD at the mark");
	 },
	 Left::payload, "1", "", "1", "14 0"},
	{"only_the_urgent_byte",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(6).urgent(6));
		 read_exactly(app, 5);
		 peer.send(fin());
	 },
	 Left::payload, "1", "", "1", "0 0"},
	{"in_line",
	 [](TcpSocket &app, Peer &peer) {
		 app.set(SOL_SOCKET, SO_OOBINLINE, 1);
		 peer.send(data(20).urgent(6));
		 read_exactly(app, 5);
		 peer.send(fin());
	 },
	 Left::payload, "1", "", "EINVAL", "15 0"},
	{"all_read",
	 [](TcpSocket &app, Peer &peer) {
		 peer.send(data(20).urgent(6));
		 read_exactly(app, 5);
		 read_exactly(app, 14, 6);
		 peer.send(fin());
	 },
	 Left::fin, "0", "0", "EINVAL", "0 0"},
	/*
	 * The peer announced urgent data and never sent it. Reading goes on behind
	 * a FIN that was freed, and SIOCATMARK compares that place with the mark.
	 */
	{"announced",
	 [](TcpSocket &app, Peer &peer) { announced(app, peer, 30); },
	 Left::fin, "0", "0", "0", "0 0"},
	{"announced_at_the_fin",
	 [](TcpSocket &app, Peer &peer) { announced(app, peer, 21); },
	 Left::fin, "1", "0", "0", "0 0"},
	{"announced_behind_the_fin",
	 [](TcpSocket &app, Peer &peer) { announced(app, peer, 22); },
	 Left::fin, "0", "1", "0", "0 0"},
};

std::string at_mark(const TcpSocket &app)
{
	int value = 0;

	check(::ioctl(app.fd(), SIOCATMARK, &value), "SIOCATMARK");
	return std::to_string(value);
}

void urgent_data(const Urgent &urgent, Family family, Purge value)
{
	const bool purged = purges(value, urgent.left);
	const bool lost = purged && urgent.left == Left::payload;
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(family);

	urgent.prepare(app, *peer);

	const Counters before = Counters::read();

	peer->send(rst());
	expect_eq(app.facts().rmem == 0, purged, "whether nothing is held");
	if (lost) {
		expect_eq(app.facts().unread, 0, "FIONREAD");
		expect_eq(poll_text(app.facts().poll), "IN OUT ERR HUP RDHUP",
			  "poll");
	}
	expect_eq(at_mark(app),
		  lost	   ? "0"
		  : purged ? urgent.mark_purged
			   : urgent.mark,
		  "SIOCATMARK");
	expect_eq(to_string(app.recv(1, MSG_OOB | MSG_DONTWAIT)),
		  lost ? "EINVAL" : urgent.oob, "recv(MSG_OOB)");
	expect_eq(two_reads(app), lost ? "ECONNRESET 0" : urgent.reads, "recv");
	expect_counted(before, purged, lost);
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Family family : {Family::v4, Family::v6})
		for (const Purge value : purge_values)
			for (const Urgent &urgent : urgents)
				tests.push_back(
					{std::string(to_string(family)) + '/' +
						 to_string(value) + '/' +
						 urgent.name,
					 Needs::purge_sysctl,
					 [&urgent, family, value] {
						 urgent_data(urgent, family,
							     value);
					 },
					 !purges(value, urgent.left)});
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
