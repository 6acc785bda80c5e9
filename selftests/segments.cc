// SPDX-License-Identifier: GPL-2.0
/*
 * Which segments purge and which do not: RSTs at every kind of sequence number,
 * data beyond the FIN, resets in other states.
 */
#include <sys/socket.h>

#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"
#include "lib/sysctl.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 20;
constexpr std::size_t room = 100;
constexpr Family families[] = {Family::v4, Family::v6, Family::mapped};

std::string three_reads(TcpSocket &app)
{
	std::string words = to_string(app.recv(room));

	for (int i = 0; i < 2; i++)
		words += ' ' + to_string(app.recv(room));
	return words;
}

/** The kernel may take its time with the ACK of the FIN. */
void await_ack(Peer &peer)
{
	peer.expect("ACK of the FIN", [&peer](const Segment &segment) {
		return segment.has(ACK) && segment.ack == peer.next_seq();
	});
	peer.drain();
}

enum class Effect { reset, challenge, nothing };

/** A RST, where it starts, and what becomes of it in CLOSE_WAIT. */
struct Number {
	const char *name;
	Draft (*rst)(Peer &peer);
	Effect effect;
};

const Number numbers[] = {
	{"rcv_nxt", [](Peer &) { return rst(); }, Effect::reset},
	{"rcv_nxt_ack", [](Peer &) { return rst_ack(); }, Effect::reset},
	{"rcv_nxt_payload", [](Peer &) { return data(5).with(RST); },
	 Effect::reset},
	{"fin", [](Peer &) { return rst().plus(-1); }, Effect::reset},
	{"fin_ack", [](Peer &) { return rst_ack().plus(-1); }, Effect::reset},
	{"next", [](Peer &) { return rst().plus(1); }, Effect::challenge},
	{"two_beyond", [](Peer &) { return rst().plus(2); }, Effect::challenge},
	{"window_end",
	 [](Peer &peer) {
		 return rst().plus(
			 static_cast<std::int64_t>(peer.usable_window()) - 1);
	 },
	 Effect::challenge},
	{"before_fin", [](Peer &) { return rst().plus(-2); }, Effect::nothing},
	{"beyond_window",
	 [](Peer &peer) {
		 return rst().plus(
			 static_cast<std::int64_t>(peer.usable_window()) + 1000);
	 },
	 Effect::nothing},
};

void rst_at(const Number &number, Family family, Purge value,
	    std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(family);

	send_and_fin(*peer, bytes);
	await_ack(*peer);

	const Counters before = Counters::read();
	const auto held = app.facts().rmem;
	const bool lost = bytes > 0 && value == Purge::flush;

	expect(held > 0, "something is held before the RST");
	peer->send(number.rst(*peer));
	if (number.effect == Effect::reset) {
		expect_eq(state_name(app.facts().state), "CLOSE", "the state");
		expect_eq(app.facts().rmem == 0, purges(value, bytes),
			  "whether nothing is held");
		expect_counted(before, purges(value, bytes), lost);
		peer->expect_silence();
		expect_eq(three_reads(app),
			  lost	  ? "ECONNRESET 0 0"
			  : bytes ? "20 0 0"
				  : "0 0 0",
			  "recv");
		expect_eq(errno_name(app.take_so_error()),
			  lost ? "0" : "EPIPE", "SO_ERROR");
		return;
	}

	expect_eq(state_name(app.facts().state), "CLOSE_WAIT", "the state");
	expect_eq(app.facts().rmem, held, "what is held");
	expect_counted(before, 0, 0);
	if (number.effect == Effect::challenge) {
		peer->expect(ACK);
		expect_eq(Counters::read().since(before,
						 "TcpExtTCPChallengeACK"),
			  1, "challenge ACKs");
	}
	peer->expect_silence();
	expect_eq(three_reads(app), bytes ? "20 0 0" : "0 0 0", "recv");
	expect_eq(errno_name(app.take_so_error()), "0", "SO_ERROR");
}

/** No RST: the connection ends, as ever, and the queue survives. */
void data_beyond_fin(Family family, Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(family);

	send_and_fin(*peer, bytes);
	await_ack(*peer);

	const Counters before = Counters::read();
	const auto held = app.facts().rmem;

	/* From before the FIN to beyond it. */
	peer->send(data(20).plus(-1));
	expect_eq(state_name(app.facts().state), "CLOSE", "the state");
	expect_eq(app.facts().rmem, held, "what is held");
	expect_counted(before, 0, 0);
	expect_eq(Counters::read().since(before, "TcpExtTCPAbortOnData"), 1,
		  "TCPAbortOnData");
	peer->expect("RST", [](const Segment &s) { return s.has(RST); });
	expect_eq(three_reads(app), bytes ? "20 0 0" : "0 0 0", "recv");
	expect_eq(errno_name(app.take_so_error()), "EPIPE", "SO_ERROR");
}

/** A state other than CLOSE_WAIT, how to get there, and what the RST does. */
struct Other {
	const char *state;
	void (*enter)(TcpSocket &app, Peer &peer);
	const char *reads;
	const char *error;	/* SO_ERROR after the reads */
};

/* The peer's numbers as if our FIN, the first thing we send, had not come. */
void without_our_fin(Peer &peer, Draft draft)
{
	peer.send(draft.acking(0));
}

const Other others[] = {
	{"ESTABLISHED",
	 [](TcpSocket &, Peer &peer) { peer.send(data(payload)); },
	 "20 ECONNRESET 0", "0"},
	{"FIN_WAIT1",
	 [](TcpSocket &app, Peer &peer) {
		 app.shutdown(SHUT_WR);
		 without_our_fin(peer, data(payload));
	 },
	 "20 ECONNRESET 0", "0"},
	{"FIN_WAIT2",
	 [](TcpSocket &app, Peer &peer) {
		 app.shutdown(SHUT_WR);
		 peer.expect(FIN | ACK);
		 peer.send(data(payload));
	 },
	 "20 ECONNRESET 0", "0"},
	{"CLOSING",
	 [](TcpSocket &app, Peer &peer) {
		 app.shutdown(SHUT_WR);
		 without_our_fin(peer, data(payload));
		 without_our_fin(peer, fin());
	 },
	 "20 0 0", "ECONNRESET"},
	{"LAST_ACK",
	 [](TcpSocket &app, Peer &peer) {
		 send_and_fin(peer, payload);
		 app.shutdown(SHUT_WR);
	 },
	 "20 0 0", "ECONNRESET"},
};

void reset_elsewhere(const Other &other, Family family, Purge value)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(family);

	other.enter(app, *peer);
	expect_eq(state_name(app.facts().state), other.state,
		  "the state before the RST");

	const Counters before = Counters::read();
	const auto held = app.facts().rmem;

	peer->send(rst());
	expect_eq(state_name(app.facts().state), "CLOSE", "the state");
	expect_eq(app.facts().rmem, held, "what is held");
	expect_counted(before, 0, 0);
	expect_eq(three_reads(app), other.reads, "recv");
	expect_eq(errno_name(app.take_so_error()), other.error, "SO_ERROR");
}

std::string kind_of(std::size_t bytes)
{
	return bytes ? "unread/" : "fin_only/";
}

void add_numbers(std::vector<Test> &tests, const std::string &prefix,
		 Family family, Purge value, std::size_t bytes)
{
	for (const Number &number : numbers)
		tests.push_back(
			{prefix + kind_of(bytes) + "rst_at_" + number.name,
			 Needs::purge_sysctl,
			 [&number, family, value, bytes] {
				 rst_at(number, family, value, bytes);
			 },
			 number.effect != Effect::reset || !purges(value, bytes)});
	tests.push_back({prefix + kind_of(bytes) + "data_beyond_fin",
			 Needs::purge_sysctl,
			 [family, value, bytes] {
				 data_beyond_fin(family, value, bytes);
			 },
			 true});
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Family family : families)
		for (const Purge value : purge_values) {
			const std::string prefix =
				std::string(to_string(family)) + '/' +
				to_string(value) + '/';

			for (const std::size_t bytes : {std::size_t{0}, payload})
				add_numbers(tests, prefix, family, value, bytes);
			for (const Other &other : others)
				tests.push_back(
					{prefix + "reset_in_" + other.state,
					 Needs::purge_sysctl,
					 [&other, family, value] {
						 reset_elsewhere(other, family,
								 value);
					 },
					 true});
		}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
