// SPDX-License-Identifier: GPL-2.0
/*
 * A pool of connections that closes what is dead, played against a broker that
 * goes away as in the incident: its FIN comes while the connection is idle,
 * nobody reads it, and a RST follows. Everything is in this process, over
 * loopback.
 *
 *   pool [--careless] [--hold]
 *
 * --careless leaves the check out, as the client of the incident did. --hold
 * keeps the pool until standard input ends, for somebody to look at it.
 * Exit status: 0 if the dead connections hold nothing in the end, else 1.
 */
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/sock_diag.h>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lib/connection_check.h"
#include "lib/fd.h"

using connection_check::check;
using connection_check::Verdict;
using rxstall::Fd;

namespace {

constexpr int connections = 100;

/* Idle connections. All that a pool of yours would add is in two places: take() and sweep(). */
class Pool {
public:
	explicit Pool(bool careless) : careless_(careless) {}

	void give_back(Fd connection)
	{
		const std::lock_guard lock(mutex_);
		idle_.push_back(std::move(connection));
	}

	/* A connection that can be used; nothing if a new one has to be made. */
	std::optional<Fd> take()
	{
		const std::lock_guard lock(mutex_);
		while (!idle_.empty()) {
			Fd connection = std::move(idle_.back());
			idle_.pop_back();
			if (careless_ || check(connection.get()).verdict == Verdict::usable)
				return connection;
			/* closed here: that frees what it holds */
		}
		return std::nullopt;
	}

	/* From time to time, for an idle pool takes nothing; how many were closed. */
	size_t sweep()
	{
		const std::lock_guard lock(mutex_);
		if (careless_)
			return 0;
		return std::erase_if(idle_, [](const Fd &connection) {
			return check(connection.get()).verdict != Verdict::usable;
		});
	}

	size_t idle() const { return idle_.size(); }

	/* Bytes of receive memory, as the kernel charges them. */
	unsigned long held() const
	{
		unsigned long bytes = 0;
		for (const Fd &connection : idle_) {
			uint32_t memory[SK_MEMINFO_VARS] = {};
			socklen_t length = sizeof(memory);
			getsockopt(connection.get(), SOL_SOCKET, SO_MEMINFO, memory, &length);
			bytes += memory[SK_MEMINFO_RMEM_ALLOC];
		}
		return bytes;
	}

private:
	const bool careless_;
	mutable std::mutex mutex_;
	std::vector<Fd> idle_;
};

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::exit(1);
}

/* The broker: accepts, and goes away in two steps. */
class Broker {
public:
	Broker() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		address_.sin_family = AF_INET;
		address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t length = sizeof(address_);
		if (bind(listener_.get(), generic(), length) != 0 || listen(listener_.get(), connections) != 0 ||
		    getsockname(listener_.get(), generic(), &length) != 0)
			die("listen");
	}

	Fd connection()
	{
		Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
		if (connect(client.get(), generic(), sizeof(address_)) != 0)
			die("connect");
		accepted_.emplace_back(accept(listener_.get(), nullptr, nullptr));
		return client;
	}

	void send_fins() const
	{
		for (const Fd &connection : accepted_)
			shutdown(connection.get(), SHUT_WR);
	}

	void send_rsts()
	{
		const linger now{1, 0};
		for (const Fd &connection : accepted_)
			setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		accepted_.clear();
	}

private:
	sockaddr *generic() { return reinterpret_cast<sockaddr *>(&address_); }

	Fd listener_;
	sockaddr_in address_{};
	std::vector<Fd> accepted_;
};

} // namespace

int main(int argc, char **argv)
{
	bool careless = false, hold = false;
	for (int i = 1; i < argc; i++) {
		careless |= std::strcmp(argv[i], "--careless") == 0;
		hold |= std::strcmp(argv[i], "--hold") == 0;
	}
	if (argc - 1 != careless + hold) {
		std::fputs("usage: pool [--careless] [--hold]\n", stderr);
		return 2;
	}

	Broker broker;
	Pool pool(careless);
	for (int i = 0; i < connections; i++)
		pool.give_back(broker.connection());
	std::printf("%zu idle connections hold %lu bytes\n", pool.idle(), pool.held());

	broker.send_fins();
	broker.send_rsts();
	std::printf("after FIN and RST: %zu, %lu bytes\n", pool.idle(), pool.held());

	const size_t closed = pool.sweep();
	const unsigned long held = pool.held();
	std::printf("after the sweep, which closed %zu: %zu, %lu bytes\n", closed, pool.idle(), held);
	std::fflush(stdout);
	while (hold && std::getchar() != EOF)
		;
	return held == 0 ? 0 : 1;
}
