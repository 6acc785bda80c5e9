// SPDX-License-Identifier: GPL-2.0
/*
 * What each call returns after payload, FIN and RST, or after FIN and RST, for
 * every value of the sysctl and every family: one table, each row of it a test.
 */
#include <fcntl.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 3000;
constexpr std::size_t room = 4096;

std::string to_string(std::string words)
{
	return words;
}

template <class Read> Outcome with_buffer(Read read)
{
	std::string bytes(room, '\0');
	Outcome outcome = outcome_of([&] { return read(bytes.data()); });

	if (outcome.value > 0) {
		bytes.resize(static_cast<std::size_t>(outcome.value));
		expect(bytes == pattern(0, bytes.size()),
		       "the bytes are those that the peer sent");
	}
	return outcome;
}

Outcome recv_once(TcpSocket &app)
{
	return with_buffer([&](char *to) {
		return ::recv(app.fd(), to, room, MSG_DONTWAIT);
	});
}

Outcome read_once(TcpSocket &app)
{
	return with_buffer([&](char *to) { return ::read(app.fd(), to, room); });
}

Outcome recvmsg_once(TcpSocket &app)
{
	return with_buffer([&](char *to) {
		iovec part{to, room};
		msghdr message{};

		message.msg_iov = &part;
		message.msg_iovlen = 1;
		return ::recvmsg(app.fd(), &message, MSG_DONTWAIT);
	});
}

Outcome peek_once(TcpSocket &app)
{
	return with_buffer([&](char *to) {
		return ::recv(app.fd(), to, room, MSG_PEEK | MSG_DONTWAIT);
	});
}

Outcome waitall_once(TcpSocket &app)
{
	return with_buffer([&](char *to) {
		return ::recv(app.fd(), to, room, MSG_WAITALL | MSG_DONTWAIT);
	});
}

Outcome splice_once(TcpSocket &app)
{
	int ends[2];

	check(::pipe(ends), "pipe");
	const unique_fd out(ends[0]), in(ends[1]);

	return outcome_of([&] {
		return ::splice(app.fd(), nullptr, in.get(), nullptr, room,
				SPLICE_F_NONBLOCK);
	});
}

Outcome send_once(TcpSocket &app)
{
	return app.send(1);
}

/* What was copied, and the error that came with it in zc.err, if any. */
std::string zerocopy_once(TcpSocket &app)
{
	std::array<char, room> copy{};
	void *const map = ::mmap(nullptr, room, PROT_READ, MAP_SHARED, app.fd(),
				 0);
	tcp_zerocopy_receive zc{};
	socklen_t length = sizeof(zc);

	if (map == MAP_FAILED)
		fail(errno, "mmap of the socket");
	zc.address = reinterpret_cast<std::uintptr_t>(map);
	zc.length = room;
	zc.copybuf_address = reinterpret_cast<std::uintptr_t>(copy.data());
	zc.copybuf_len = room;

	const Outcome outcome = outcome_of([&] {
		return ::getsockopt(app.fd(), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
				    &zc, &length);
	});

	::munmap(map, room);
	if (outcome.error)
		return to_string(outcome);
	return std::to_string(zc.copybuf_len) +
	       (zc.err ? "+" + errno_name(-zc.err) : "");
}

std::string so_error_once(TcpSocket &app)
{
	return errno_name(app.take_so_error());
}

/** A call, and what it says where the payload is kept, discarded, or was none. */
struct Call {
	const char *name;
	std::function<std::string(TcpSocket &)> make;
	const char *kept;
	const char *discarded;
	const char *fin_only;
};

/** The same call twice. */
template <auto call> std::string two(TcpSocket &app)
{
	const std::string first = to_string(call(app));

	return first + " " + to_string(call(app));
}

const Call calls[] = {
	{"recv", two<recv_once>, "3000 0", "ECONNRESET 0", "0 0"},
	{"read", two<read_once>, "3000 0", "ECONNRESET 0", "0 0"},
	{"recvmsg", two<recvmsg_once>, "3000 0", "ECONNRESET 0", "0 0"},
	{"splice", two<splice_once>, "3000 0", "ECONNRESET 0", "0 0"},
	{"peek", two<peek_once>, "3000 3000", "ECONNRESET 0", "0 0"},
	{"waitall", two<waitall_once>, "3000 0", "ECONNRESET 0", "0 0"},
	{"zerocopy", two<zerocopy_once>, "3000+EPIPE EIO", "0+ECONNRESET 0",
	 "EIO EIO"},
	{"send", two<send_once>, "EPIPE+SIGPIPE EPIPE+SIGPIPE",
	 "ECONNRESET EPIPE+SIGPIPE", "EPIPE+SIGPIPE EPIPE+SIGPIPE"},
	{"so_error", two<so_error_once>, "EPIPE 0", "ECONNRESET 0", "EPIPE 0"},
	{"fionread",
	 [](TcpSocket &app) { return std::to_string(app.facts().unread); },
	 "3000", "0", "0"},
	{"poll", [](TcpSocket &app) { return poll_text(app.facts().poll); },
	 "IN OUT ERR HUP RDHUP", "IN OUT ERR HUP RDHUP",
	 "IN OUT ERR HUP RDHUP"},
};

void one_call(const Call &call, Family family, Purge value, std::size_t bytes)
{
	const bool purged = purges(value, bytes);
	const char *const expected = !bytes ? call.fin_only
				     : purged ? call.discarded : call.kept;
	Wire wire;
	auto connection = abandoned(wire, family, value, bytes);
	const Facts facts = connection.app.facts();

	expect_eq(state_name(facts.state), "CLOSE", "the state");
	expect_eq(facts.rmem == 0, purged,
		  "whether nothing is held (" + std::to_string(facts.rmem) + ")");
	expect_eq(call.make(connection.app), expected, call.name);
}

void counters(Family family, Purge value, std::size_t bytes)
{
	Wire wire;
	const Counters before = Counters::read();
	auto connection = abandoned(wire, family, value, bytes);
	const Counters after = Counters::read();

	expect_eq(after.since(before, "TcpExtTCPRcvQPurged"),
		  purges(value, bytes) ? 1 : 0, "TCPRcvQPurged");
	expect_eq(after.since(before, "TcpExtTCPRcvQPurgedUnread"),
		  bytes && purges(value, bytes) ? 1 : 0, "TCPRcvQPurgedUnread");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Family family : {Family::v4, Family::v6, Family::mapped})
		for (const Purge value :
		     {Purge::off, Purge::flush, Purge::lossless})
			for (const std::size_t bytes : {std::size_t{0}, payload}) {
				const std::string name =
					std::string(to_string(family)) + "/" +
					to_string(value) +
					(bytes ? "/unread/" : "/fin_only/");

				for (const Call &call : calls)
					tests.push_back(
						{name + call.name,
						 value == Purge::off
							 ? Needs::nothing
							 : Needs::purge_sysctl,
						 [&call, family, value, bytes] {
							 one_call(call, family,
								  value, bytes);
						 },
						 !purges(value, bytes)});
				tests.push_back({name + "counters",
						 Needs::purge_sysctl,
						 [family, value, bytes] {
							 counters(family, value,
								  bytes);
						 }});
			}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
