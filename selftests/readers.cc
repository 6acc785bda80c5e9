// SPDX-License-Identifier: GPL-2.0
/*
 * Applications that are in the middle of something when payload, FIN and RST
 * come as one batch out of the backlog: readers and writers that block, several
 * of them, poll and epoll.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "lib/checked.h"
#include "lib/ktap.h"
#include "lib/scenario.h"
#include "lib/waiting.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 20;
constexpr std::size_t room = 100;

/** Whether payload is discarded, so that the application sees a difference. */
bool discards(Purge value, std::size_t bytes)
{
	return bytes && purges(value, bytes);
}

/** While @app is locked: its peer's last segments, processed in one go. */
void end_in_one_batch(Connection &connection, std::size_t bytes)
{
	const Locked locked(connection.app.fd());

	connection.peer->drain();
	send_and_fin(*connection.peer, bytes);
	connection.peer->send(rst());
	expect(!connection.peer->has_arrivals(),
	       "nothing is acknowledged while the socket is locked");
}

Outcome blocking_recv(int fd, std::size_t size, int flags)
{
	std::string bytes(size, '\0');

	return outcome_of(
		[&] { return ::recv(fd, bytes.data(), size, flags); });
}

/**
 * A reader that has @copied bytes already when the rest comes. With MSG_PEEK they
 * are unread all the same.
 */
struct Reader {
	const char *name;
	int flags;
	int lowat;
	std::size_t copied;
	const char *kept;	/* its outcome, and the next one */
	const char *discarded;
	const char *fin_only;
};

const Reader readers[] = {
	{"recv", 0, 1, 0, "20 0", "ECONNRESET 0", "0 0"},
	{"peek", MSG_PEEK, 1, 0, "20 20", "ECONNRESET 0", "0 0"},
	{"waitall", MSG_WAITALL, 1, 0, "20 0", "ECONNRESET 0", "0 0"},
	{"waitall_some", MSG_WAITALL, 1, 10, "30 0", "10 ECONNRESET", "10 0"},
	{"peek_waitall", MSG_PEEK | MSG_WAITALL, 1, 0, "20 20", "ECONNRESET 0", "0 0"},
	{"peek_waitall_some", MSG_PEEK | MSG_WAITALL, 1, 10,
	 "30 30", "10 ECONNRESET", "10 10"},
	{"rcvlowat", 0, room, 0, "20 0", "ECONNRESET 0", "0 0"},
	{"rcvlowat_some", 0, room, 10, "30 0", "10 ECONNRESET", "10 0"},
};

/** What is in the queue while @reader sleeps. */
int peeked(const Reader &reader)
{
	return reader.flags & MSG_PEEK ? static_cast<int>(reader.copied) : 0;
}

void blocked_reader(const Reader &reader, Purge value, std::size_t bytes)
{
	const std::string expected =
		discards(value, bytes + peeked(reader)) ? reader.discarded
		: bytes					? reader.kept
							: reader.fin_only;
	Wire wire;

	set_purge(value);
	auto connection = wire.connect(Family::v4);
	const int fd = connection.app.fd();
	const auto read = [fd, flags = reader.flags] {
		return blocking_recv(fd, room, flags);
	};

	make_blocking(fd);
	connection.app.set(SOL_SOCKET, SO_RCVLOWAT, reader.lowat);
	if (reader.copied)
		connection.peer->send(data(reader.copied));

	Waiting blocked(read);

	expect_eq(connection.app.facts().unread, peeked(reader),
		  "what is not yet read");
	end_in_one_batch(connection, bytes);

	const std::string first = to_string(blocked.outcome());

	expect_eq(first + ' ' + to_string(read()), expected, reader.name);
}

Outcome blocking_splice(int fd)
{
	int ends[2];

	check(::pipe(ends), "pipe");
	const unique_fd out(ends[0]), in(ends[1]);

	return outcome_of([&] {
		return ::splice(fd, nullptr, in.get(), nullptr, room, 0);
	});
}

void blocked_splice(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto connection = wire.connect(Family::v4);
	const int fd = connection.app.fd();

	make_blocking(fd);
	Waiting blocked([fd] { return blocking_splice(fd); });

	end_in_one_batch(connection, bytes);

	const std::string first = to_string(blocked.outcome());

	expect_eq(first + ' ' + to_string(blocking_splice(fd)),
		  reads_after_reset(value, bytes), "splice");
}

/** One of them gets the payload, or the error; the others see the end. */
void several_readers(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto connection = wire.connect(Family::v4);
	const int fd = connection.app.fd();
	std::vector<std::unique_ptr<Waiting>> blocked;
	std::vector<std::string> outcomes;

	make_blocking(fd);
	for (int i = 0; i < 4; i++)
		blocked.push_back(std::make_unique<Waiting>(
			[fd] { return blocking_recv(fd, room, 0); }));
	end_in_one_batch(connection, bytes);
	for (const auto &reader : blocked)
		outcomes.push_back(to_string(reader->outcome()));
	std::sort(outcomes.begin(), outcomes.end());

	const std::string last = !bytes			  ? "0"
				 : discards(value, bytes) ? "ECONNRESET"
							  : "20";

	for (std::size_t i = 0; i < 3; i++)
		expect_eq(outcomes[i], "0", "the outcome of a reader");
	expect_eq(outcomes[3], last, "the outcome of one reader");
}

/** A writer that waits for the peer to open its window, in CLOSE_WAIT. */
void blocked_writer(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);
	const int fd = app.fd();

	app.set(SOL_SOCKET, SO_SNDBUF, 8192);
	send_and_fin(*peer, bytes);
	while (app.send(4096).error != EAGAIN)
		;
	make_blocking(fd);
	Waiting blocked([fd] {
		const std::string text(4096, 'x');

		return outcome_of([&] {
			return ::send(fd, text.data(), text.size(), 0);
		});
	});

	peer->send(rst());

	const std::string first = to_string(blocked.outcome());

	expect_eq(first + ' ' + to_string(app.send(1)),
		  discards(value, bytes) ? "ECONNRESET EPIPE+SIGPIPE"
					 : "EPIPE+SIGPIPE EPIPE+SIGPIPE",
		  "send");
}

void blocked_poll(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto connection = wire.connect(Family::v4);
	pollfd wanted{connection.app.fd(), POLLIN | POLLRDHUP, 0};
	/* It does not take the socket's lock and may come between the segments. */
	Waiting blocked([&wanted] {
		return outcome_of([&] {
			int ready;

			do
				ready = ::poll(&wanted, 1, -1);
			while (ready == 1 && !(wanted.revents & POLLHUP));
			return ready;
		});
	});

	end_in_one_batch(connection, bytes);
	expect_eq(to_string(blocked.outcome()), "1", "poll");
	expect_eq(poll_text(wanted.revents), "IN ERR HUP RDHUP", "its bits");
}

class Epoll {
public:
	explicit Epoll(int watched) : fd_(check(::epoll_create1(0), "epoll"))
	{
		epoll_event event{};

		event.events = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLET;
		check(::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, watched, &event),
		      "EPOLL_CTL_ADD");
	}

	/** The bits of the next event, "none" if there is none. */
	std::string next()
	{
		epoll_event event{};

		if (!check(::epoll_wait(fd_.get(), &event, 1, 0), "epoll_wait"))
			return "none";
		return poll_text(static_cast<int>(event.events));
	}

private:
	unique_fd fd_;
};

/** Each segment wakes the application once, whatever the value. */
void edge_triggered(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);
	Epoll epoll(app.fd());

	expect_eq(epoll.next(), "none", "the events before the FIN");
	send_and_fin(*peer, bytes);
	expect_eq(epoll.next(), "IN RDHUP", "the event of the FIN");
	expect_eq(epoll.next(), "none", "the events after it");
	peer->send(rst());
	expect_eq(app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	expect_eq(epoll.next(), "IN ERR HUP RDHUP", "the event of the RST");
	expect_eq(epoll.next(), "none", "the events after it");
}

void edge_triggered_batch(Purge value, std::size_t bytes)
{
	Wire wire;

	set_purge(value);
	auto connection = wire.connect(Family::v4);
	Epoll epoll(connection.app.fd());

	end_in_one_batch(connection, bytes);
	expect_eq(connection.app.facts().rmem == 0, purges(value, bytes),
		  "whether nothing is held");
	expect_eq(epoll.next(), "IN ERR HUP RDHUP", "the event of the batch");
	expect_eq(epoll.next(), "none", "the events after it");
}

/** A scenario for every value, and what of it the application can tell. */
struct Scenario {
	const char *name;
	void (*run)(Purge value, std::size_t bytes);
	bool looks_at_memory;
};

const Scenario scenarios[] = {
	{"blocked/splice", blocked_splice, false},
	{"blocked/four_readers", several_readers, false},
	{"blocked/writer", blocked_writer, false},
	{"blocked/poll", blocked_poll, false},
	{"epoll/edge_triggered", edge_triggered, true},
	{"epoll/edge_triggered_batch", edge_triggered_batch, true},
};

void add(std::vector<Test> &tests, Purge value, std::size_t bytes)
{
	const std::string prefix = std::string(to_string(value)) +
				   (bytes ? "/unread/" : "/fin_only/");

	for (const Reader &reader : readers)
		tests.push_back({prefix + "blocked/" + reader.name,
				 Needs::purge_sysctl,
				 [&reader, value, bytes] {
					 blocked_reader(reader, value, bytes);
				 },
				 !discards(value, bytes + peeked(reader))});
	for (const Scenario &scenario : scenarios) {
		tests.push_back({prefix + scenario.name, Needs::purge_sysctl,
				 [&scenario, value, bytes] {
					 scenario.run(value, bytes);
				 },
				 scenario.run == blocked_poll ||
					 !(scenario.looks_at_memory
						   ? purges(value, bytes)
						   : discards(value, bytes))});
	}
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
