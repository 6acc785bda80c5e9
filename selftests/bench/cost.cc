// SPDX-License-Identifier: GPL-2.0
/*
 * What the patches cost, in instructions: for a clock that counts them (`vm/run
 * --icount`) the difference of two readings is the number of instructions between
 * them, the kernel's included. Each case is repeated, right after a tick of the timer,
 * so that none is interrupted.
 *
 * The peer's segments are built beforehand: what is measured is the write() that
 * takes one through TCP, and the system calls of the application.
 */
#include <x86intrin.h>

#include <algorithm>
#include <functional>

#include "bench/setting.h"
#include "lib/checked.h"
#include "lib/loopback.h"
#include "lib/netns.h"

namespace {

using namespace selftest;
using bench::Json;

constexpr int jumbo_mtu = 9000;
constexpr std::size_t jumbo_payload = 8900;
constexpr std::size_t bulk_segments = 16;

/** Instructions between two points: name of the step, and how many. */
using Steps = std::vector<std::pair<const char *, std::uint64_t>>;

/**
 * Returns right after the timer has interrupted. It does so once in a million
 * instructions (HZ 1000), so what takes less is not interrupted.
 */
void await_tick()
{
	constexpr std::uint64_t interrupted = 1000;

	for (std::uint64_t before = __rdtsc(), now; ; before = now) {
		now = __rdtsc();
		if (now - before > interrupted)
			return;
	}
}

template <class Call> std::uint64_t instructions(Call call)
{
	await_tick();

	const std::uint64_t begin = __rdtsc();

	call();
	return __rdtsc() - begin;
}

/** The segment that continues what @peer has sent. */
std::vector<std::uint8_t> next_packet(const Peer &peer, std::uint16_t flags,
				      std::size_t offset = 0,
				      std::size_t length = 0)
{
	Segment segment;

	segment.flags = flags;
	segment.seq = peer.next_seq() + static_cast<std::uint32_t>(offset);
	segment.ack = peer.awaited();
	segment.window = 65535;
	segment.payload.assign(length, 'x');
	return encode(peer.path(), segment);
}

/** A connection whose receive buffer takes @bytes. */
Connection roomy_connection(Wire &wire, std::size_t bytes)
{
	TcpSocket app = TcpSocket::create(Family::v4);

	app.set(SOL_SOCKET, SO_RCVBUFFORCE, static_cast<int>(4 * bytes + 65536));

	Handshake handshake;

	handshake.wscale = 8;
	handshake.mss = jumbo_payload;
	auto peer = wire.connect(app, Family::v4, handshake);

	return {std::move(app), std::move(peer)};
}

void fill(Peer &peer, std::size_t bytes)
{
	const std::string payload(jumbo_payload, 'x');

	for (std::size_t sent = 0; sent < bytes;) {
		const std::size_t part = std::min({bytes - sent, jumbo_payload,
						   peer.usable_window()});

		if (part == 0)
			throw std::runtime_error("the window is closed");
		peer.send(data(payload.substr(0, part)));
		sent += part;
		peer.forget();
	}
}

/** The RST, and then close() of what is left. */
Steps reset_and_close(Wire &wire, Connection &connection)
{
	const auto packet = next_packet(*connection.peer, RST | ACK);
	const auto rst = instructions([&] { wire.tun().write(packet); });

	if (connection.app.facts().state != CLOSE)
		throw std::runtime_error("the RST did not end the connection");
	const auto close =
		instructions([&] { (void)connection.app.close(); });

	return {{"rst", rst}, {"close", close}};
}

/** RST in CLOSE_WAIT with @bytes unread. */
Steps close_wait(Wire &wire, std::size_t bytes)
{
	Connection connection = roomy_connection(wire, bytes);

	fill(*connection.peer, bytes);
	connection.peer->send(fin());
	connection.peer->forget();
	return reset_and_close(wire, connection);
}

Steps close_wait_empty(Wire &wire)
{
	Connection connection = roomy_connection(wire, 0);

	connection.peer->send(fin());
	(void)connection.app.recv(1);
	connection.peer->forget();
	return reset_and_close(wire, connection);
}

Steps established(Wire &wire)
{
	Connection connection = roomy_connection(wire, 0);

	return reset_and_close(wire, connection);
}

/** Connections over loopback from socket() to the second close(). */
class Churn {
public:
	Churn()
		: listener_(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				  "socket"))
	{
		auto *in = reinterpret_cast<sockaddr_in *>(&to_.storage);

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		to_.length = sizeof(*in);
		check(::bind(listener_.get(), to_.get(), to_.length), "bind");
		check(::listen(listener_.get(), 1), "listen");
		to_ = local_address(listener_.get());
	}

	/** The client ends it, with a FIN or with a FIN and a RST. */
	Steps repeat(bool reset)
	{
		const linger now{1, 0};
		char buffer[512] = {};

		/*
		 * One more socket each time: where in a slab the others come to
		 * lie costs a few instructions, and is to vary.
		 */
		others_.emplace_back(check(
			::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			"socket"));
		return {{"all", instructions([&] {
			const int client = ::socket(AF_INET, SOCK_STREAM, 0);

			check(::connect(client, to_.get(), to_.length),
			      "connect");

			const int server =
				::accept(listener_.get(), nullptr, nullptr);

			check(::send(client, buffer, 100, 0), "send");
			check(::recv(server, buffer, sizeof(buffer), 0), "recv");
			check(::send(server, buffer, sizeof(buffer), 0), "send");
			check(::recv(client, buffer, sizeof(buffer), 0), "recv");
			if (reset) {
				check(::shutdown(client, SHUT_WR), "shutdown");
				check(::setsockopt(client, SOL_SOCKET, SO_LINGER,
						   &now, sizeof(now)),
				      "SO_LINGER");
			}
			::close(client);
			if (!reset)
				check(::recv(server, buffer, 1, 0), "recv");
			::close(server);
		})}};
	}

private:
	unique_fd listener_;
	Address to_;
	std::vector<unique_fd> others_;
};

/** A connection with segments that arrive and are read. */
class Bulk {
public:
	explicit Bulk(Wire &wire)
		: wire_(&wire),
		  connection_(roomy_connection(wire, 2 * buffer_.size()))
	{
	}

	Steps repeat()
	{
		std::vector<std::vector<std::uint8_t>> packets;

		for (std::size_t i = 0; i < bulk_segments; i++) {
			packets.push_back(next_packet(*connection_.peer, PSH | ACK,
						      sent_, jumbo_payload));
			sent_ += jumbo_payload;
		}

		const auto all = instructions([&] {
			for (const auto &packet : packets)
				wire_->tun().write(packet);
			got_ = ::recv(connection_.app.fd(), buffer_.data(),
				      buffer_.size(), 0);
		});

		connection_.peer->forget();
		if (got_ != static_cast<ssize_t>(buffer_.size()))
			throw std::runtime_error("not everything has arrived");
		return {{"all", all}};
	}

private:
	Wire *wire_;
	std::vector<char> buffer_ =
		std::vector<char>(bulk_segments * jumbo_payload);
	Connection connection_;
	std::size_t sent_ = 0;
	ssize_t got_ = 0;
};

using Repeat = std::function<Steps()>;

/*
 * Few segments take the same path each time: their median. A connection's life
 * meets a refill of some cache in many repetitions: the lower decile has none. With
 * a RST, up to one in nine is cheaper, by half a per cent, in some boots and in none
 * of others: the lower quartile is above these.
 */
constexpr double median = 0.5, decile = 0.1, quartile = 0.25;

struct Case {
	const char *name;
	int repeats;
	double part;	/* which quantile of the repetitions counts */
	std::function<Repeat(Wire &)> begin;
};

Case reset_case(const char *name, int repeats, std::size_t bytes)
{
	return {name, repeats, median, [bytes](Wire &wire) -> Repeat {
			return [&wire, bytes] { return close_wait(wire, bytes); };
		}};
}

Case churn_case(const char *name, bool reset)
{
	return {name, 800, reset ? quartile : decile, [reset](Wire &) -> Repeat {
			return [churn = std::make_shared<Churn>(), reset] {
				return churn->repeat(reset);
			};
		}};
}

const std::vector<Case> cases = {
	churn_case("connection: connect, request, close", false),
	{"bulk receive", 50, decile,
	 [](Wire &wire) -> Repeat {
		 return [bulk = std::make_shared<Bulk>(wire)] {
			 return bulk->repeat();
		 };
	 }},
	churn_case("connection: connect, request, FIN, RST, close", true),
	{"RST, ESTABLISHED", 50, median,
	 [](Wire &wire) -> Repeat { return [&wire] { return established(wire); }; }},
	{"RST, CLOSE_WAIT, empty queue", 50, median,
	 [](Wire &wire) -> Repeat {
		 return [&wire] { return close_wait_empty(wire); };
	 }},
	reset_case("RST, CLOSE_WAIT, FIN only", 50, 0),
	reset_case("RST, CLOSE_WAIT, 64 KB unread", 30, 64 << 10),
	reset_case("RST, CLOSE_WAIT, 6 MB unread", 5, 6 << 20),
};

/** The value that @part of @samples are at or below. */
std::uint64_t quantile(std::vector<std::uint64_t> samples, double part)
{
	std::sort(samples.begin(), samples.end());
	return samples[static_cast<std::size_t>(
		part * static_cast<double>(samples.size() - 1))];
}

void measure_case(Wire &wire, const bench::Setting &setting, const Case &one,
		  bool quick)
{
	std::map<std::string, std::vector<std::uint64_t>> samples;
	const int repeats = quick ? std::max(one.repeats / 20, 3) : one.repeats;

	const Repeat repeat = one.begin(wire);

	/* The first ones fill caches of the allocators. */
	for (int i = -repeats / 10 - 1; i < repeats; i++)
		for (const auto &[step, count] : repeat())
			if (i >= 0)
				samples[step].push_back(count);
	for (const auto &[step, counts] : samples)
		bench::print("cost", setting,
			     {{"case", one.name},
			      {"step", step},
			      {"instructions", quantile(counts, one.part)}});
}

void measure(const bench::Request &request)
{
	for (const bench::Setting &setting : request.settings) {
		enter_new_netns();
		set_purge(setting.value);

		Wire wire(jumbo_mtu);

		for (const Case &one : cases)
			measure_case(wire, setting, one, request.quick);
	}
}

} // namespace

int main(int argc, char **argv)
{
	return bench::run("cost", measure, argc, argv);
}
