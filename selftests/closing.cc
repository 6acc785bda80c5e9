// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that nobody reads again: a child that was not accepted when the RST
 * came, and what close() sends after a purge, which is nothing.
 */
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/scenario.h"
#include "lib/waiting.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 20;

/** The RST comes before accept(): the child is handed out all the same. */
void not_yet_accepted(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	Listener listener(Family::v4);
	const auto peer = wire.open(listener);

	send_and_fin(*peer, bytes);
	peer->send(rst());
	expect_eq(listener.waiting(), 1u, "connections that wait");

	TcpSocket app = listener.accept();

	expect_eq(state_name(app.facts().state), "CLOSE", "the state");
	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");

	expect_eq(two_reads(app), reads_after_reset(value, bytes), "recv");
}

/** The listener is closed with such a child in its queue. */
void never_accepted(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	Listener listener(Family::v4);
	const auto peer = wire.open(listener);

	send_and_fin(*peer, bytes);

	const Counters before = Counters::read();

	peer->send(rst());
	expect_counted(before, purges(value, bytes),
		       bytes > 0 && value == Purge::flush);
	peer->drain();
	{
		const Listener gone = std::move(listener);
	}
	peer->expect_silence();
}

/** How the application closes. */
struct Closing {
	const char *name;
	int on, seconds;	/* SO_LINGER */
	bool shutdown;
};

const Closing closings[] = {
	{"close", 0, 0, false},
	{"shutdown_close", 0, 0, true},
	{"linger_0", 1, 0, false},
	{"linger_5", 1, 5, false},
};

void close_is_silent(const Closing &closing, Purge value, std::size_t bytes)
{
	using Clock = std::chrono::steady_clock;
	const linger option{closing.on, closing.seconds};
	Wire wire;
	auto [app, peer] = abandoned(wire, Family::v4, value, bytes);

	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	peer->drain();
	make_blocking(app.fd());
	check(::setsockopt(app.fd(), SOL_SOCKET, SO_LINGER, &option,
			   sizeof(option)), "SO_LINGER");
	if (closing.shutdown)
		expect_eq(to_string(app.shutdown(SHUT_RDWR)), "ENOTCONN",
			  "shutdown");

	const auto start = Clock::now();

	expect_eq(to_string(app.close()), "0", "close");
	expect(Clock::now() - start < std::chrono::seconds(4),
	       "close does not linger");
	peer->expect_silence();
}

void add(std::vector<Test> &tests, Purge value, std::size_t bytes)
{
	const std::string prefix = std::string(to_string(value)) +
				   (bytes ? "/unread/" : "/fin_only/");
	const auto add_one = [&](std::string name, std::function<void()> run,
				 bool same_without) {
		tests.push_back({prefix + std::move(name), Needs::purge_sysctl,
				 std::move(run), same_without});
	};

	add_one("child/not_yet_accepted",
		[=] { not_yet_accepted(value, bytes); }, !purges(value, bytes));
	add_one("child/never_accepted",
		[=] { never_accepted(value, bytes); }, true);
	for (const Closing &closing : closings)
		add_one(std::string("silent/") + closing.name,
			[&closing, value, bytes] {
				close_is_silent(closing, value, bytes);
			},
			!purges(value, bytes));
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Purge value : purge_values)
		for (const std::size_t bytes : {std::size_t{0}, payload})
			add(tests, value, bytes);
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
