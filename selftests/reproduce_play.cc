// SPDX-License-Identifier: GPL-2.0
#include "reproduce_play.h"

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace reproduce {

namespace {

using namespace selftest;

/* linux/tcp.h and netinet/tcp.h cannot be had together. */
constexpr int tcp_keepidle = 4;
constexpr int tcp_keepintvl = 5;

constexpr std::size_t most_at_a_time = 10000;
constexpr std::size_t accept_queue = 32768;
constexpr std::size_t read_size = 4096;
constexpr std::size_t segment_size = 1400;
constexpr std::size_t most_segments = 10000;

std::string joined(const std::vector<std::string> &first,
		   const std::vector<std::string> &second)
{
	std::string text;

	for (const auto *part : {&first, &second})
		for (const std::string &word : *part)
			text += (text.empty() ? "" : " ") + word;
	return text;
}

void fill_window(Peer &peer)
{
	for (std::size_t i = 0; i < most_segments; i++) {
		const std::size_t room = peer.usable_window();

		if (room > 0)
			peer.send(data(std::min(room, segment_size)));
		else if (peer.last_window() == 0)
			return;
		else
			peer.expect(ACK); /* a delayed one */
	}
	throw Unexpected("the window does not close");
}

void set_keepalive(TcpSocket &app)
{
	app.set(IPPROTO_TCP, tcp_keepidle, 1);
	app.set(IPPROTO_TCP, tcp_keepintvl, 1);
	app.set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

void must_return(const Outcome &outcome, std::size_t value, const char *call)
{
	if (outcome.value != static_cast<ssize_t>(value))
		throw Unexpected(std::string(call) + " returned " +
				 to_string(outcome));
}

std::vector<WireLine> lines_of(Peer &peer)
{
	std::vector<WireLine> lines;

	for (const Logged &logged : peer.log()) {
		WireLine line;

		line.from_peer = logged.from_peer;
		line.flags = flags_text(logged.segment.flags);
		line.seq = peer.seq_position(logged);
		if (logged.segment.has(ACK))
			line.ack = peer.ack_position(logged);
		line.len = logged.segment.payload.size();
		line.window = logged.segment.window;
		line.text = peer.line(logged);
		lines.push_back(line);
	}
	return lines;
}

/* The state in which `ss` would show the connection. */
std::string listed_as(Family family, const Path &path)
{
	const auto found =
		diag_lookup(family, kernel_address(family, path.kernel_port),
			    peer_address(family, path.host, path.peer_port));

	return found ? state_name(found->state) : "not listed";
}

std::vector<std::string> receive(TcpSocket &app, int times)
{
	std::vector<std::string> outcomes;

	for (int i = 0; i < times; i++)
		outcomes.push_back(to_string(app.recv(read_size)));
	return outcomes;
}

std::vector<std::string> send(TcpSocket &app, int times)
{
	std::vector<std::string> outcomes;

	for (int i = 0; i < times; i++)
		outcomes.push_back(to_string(app.send(1)));
	return outcomes;
}

} // namespace

Company::Company(Wire &wire, Family family, const Case &what, std::size_t count)
	: wire_(wire), family_(family), what_(what), members_(count)
{
	/* Keepalives and delayed ACKs come for all of a batch at a time. */
	const std::size_t batch = std::min(most_at_a_time, wire.tun().burst());

	for (std::size_t begin = 0; begin < count; begin += batch)
		play_batch(begin, std::min(begin + batch, count));
}

void Company::play_batch(std::size_t begin, std::size_t end)
{
	const bool many = members_.size() > 1;

	for (std::size_t i = begin; i < end; i++)
		start(members_[i]);
	for (const Step &step : what_.steps)
		for (std::size_t i = begin; i < end; i++)
			apply(step, members_[i]);
	for (std::size_t i = begin; many && i < end; i++)
		members_[i].peer->forget();
}

Listener &Company::listener()
{
	if (listeners_.empty() || listeners_.back()->waiting() >= accept_queue)
		listeners_.push_back(std::make_unique<Listener>(
			family_, static_cast<int>(accept_queue)));
	return *listeners_.back();
}

void Company::start(Member &member)
{
	if (what_.start == Start::unaccepted) {
		member.peer = wire_.open(listener());
		return;
	}
	member.app = TcpSocket::create(family_);
	member.peer = what_.start == Start::connecting
			      ? wire_.begin_connect(*member.app, family_)
			      : wire_.connect(*member.app, family_);
}

void Company::apply(const Step &step, Member &member)
{
	const auto n = static_cast<std::size_t>(step.n);
	Draft draft = data(n);

	switch (step.op) {
	case Op::peer_sends:
		draft.flags = step.flags;
		member.peer->send(draft.plus(step.offset));
		break;
	case Op::peer_fills:
		fill_window(*member.peer);
		break;
	case Op::app_sends:
		must_return(member.app->send(n), n, "send");
		break;
	case Op::app_receives:
		must_return(member.app->recv(n), n, "recv");
		break;
	case Op::app_shuts_down:
		must_return(member.app->shutdown(SHUT_WR), 0, "shutdown");
		break;
	case Op::app_keepalive:
		member.peer->drain();
		set_keepalive(*member.app);
		break;
	case Op::app_stamps:
		member.app->set(SOL_SOCKET, SO_TIMESTAMPING,
				SOF_TIMESTAMPING_TX_SCHED |
					SOF_TIMESTAMPING_TX_SOFTWARE |
					SOF_TIMESTAMPING_SOFTWARE);
		break;
	case Op::app_must_send:
		member.peer->expect(step.flags);
		break;
	}
	wire_.pump(); /* the device's queue is short */
}

Crowd Company::crowd() const
{
	Crowd crowd;

	for (const auto &one : listeners_)
		crowd.waiting += one->waiting();
	for (const Member &member : members_) {
		if (!member.app)
			continue;

		const Facts facts = member.app->facts();

		if (crowd.sockets++ == 0)
			crowd.rmem_least = facts.rmem;
		crowd.rmem_least = std::min(crowd.rmem_least, facts.rmem);
		crowd.rmem_most = std::max(crowd.rmem_most, facts.rmem);
		crowd.rmem_total += facts.rmem;
		crowd.unread_total += facts.unread;
		crowd.by_state_and_queue[{state_name(facts.state),
					  to_string(facts.queue())}]++;
	}
	return crowd;
}

Report play(Wire &wire, Family family, const Case &what, int sysctl)
{
	Company reader(wire, family, what, 1);
	Company writer(wire, family, what, 1);
	Company::Member &first = reader.members_.front();
	Company::Member &second = writer.members_.front();
	Report report;

	report.what = &what;
	report.family = family;
	report.sysctl = sysctl;
	report.wire = lines_of(*first.peer);
	report.listed = listed_as(family, first.peer->path());
	if (what.start == Start::unaccepted) {
		report.waiting = reader.listeners_.front()->waiting();
		first.app = reader.listeners_.front()->accept();
		second.app = writer.listeners_.front()->accept();
	}
	report.facts = first.app->facts();
	report.reader_recv = receive(*first.app, 3);
	report.reader_send = send(*first.app, 2);
	report.writer_send = send(*second.app, 2);
	report.writer_recv = receive(*second.app, 1);
	return report;
}

std::vector<std::string> differences(const Report &report)
{
	const Case &what = *report.what;
	const Left &left = what.left.at(static_cast<std::size_t>(report.sysctl));
	std::vector<std::string> found;
	const auto compare = [&found](const char *name, std::string_view is,
				      std::string_view should_be) {
		if (is != should_be)
			found.push_back(std::string(name) + " is \"" +
					std::string(is) + "\", expected \"" +
					std::string(should_be) + '"');
	};

	compare("state", state_name(report.facts.state), what.state);
	compare("poll", poll_text(report.facts.poll), what.poll);
	compare("queue", to_string(report.facts.queue()), to_string(left.queue));
	if (left.unread != any_unread)
		compare("unread", std::to_string(report.facts.unread),
			std::to_string(left.unread));
	compare("reader", joined(report.reader_recv, report.reader_send),
		left.reader);
	compare("writer", joined(report.writer_send, report.writer_recv),
		left.writer);
	compare("sock_diag", report.listed, what.listed);
	if (report.crowd && report.crowd->sockets > 0) {
		const std::pair<std::string, std::string> all = {
			std::string(what.state), to_string(left.queue)};
		const auto &groups = report.crowd->by_state_and_queue;

		if (groups.size() != 1 || !groups.contains(all))
			found.emplace_back("not all of the crowd are alike");
	}
	return found;
}

} // namespace reproduce
