// SPDX-License-Identifier: GPL-2.0
#include "bench/crowd.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "lib/address.h"
#include "lib/checked.h"
#include "lib/facts.h"

namespace bench {

using namespace selftest;

namespace {

unique_fd tcp_socket()
{
	return unique_fd(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			       "socket"));
}

/** Connections to a listener on an address of its own: ports do not run out. */
class Loopback {
public:
	explicit Loopback(int index)
	{
		auto *in = reinterpret_cast<sockaddr_in *>(&to_.storage);

		in->sin_family = AF_INET;
		in->sin_addr.s_addr =
			htonl(INADDR_LOOPBACK + 1 + static_cast<unsigned>(index));
		to_.length = sizeof(*in);
		check(::bind(listener_.get(), to_.get(), to_.length), "bind");
		check(::listen(listener_.get(), 64), "listen");
		to_ = local_address(listener_.get());
	}

	/** The accepted end first. */
	std::pair<unique_fd, unique_fd> connect()
	{
		unique_fd client = tcp_socket();

		check(::connect(client.get(), to_.get(), to_.length), "connect");
		return {unique_fd(check(::accept4(listener_.get(), nullptr,
						  nullptr, SOCK_CLOEXEC),
					"accept")),
			std::move(client)};
	}

private:
	unique_fd listener_ = tcp_socket();
	Address to_;
};

/** FIN and RST from @peer, which is closed. */
void end_connection(unique_fd peer, const unique_fd &socket)
{
	const linger now{1, 0};

	check(::shutdown(peer.get(), SHUT_WR), "shutdown");
	wait_for_state(socket.get(), CLOSE_WAIT);
	check(::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)),
	      "SO_LINGER");
	peer.reset();
	wait_for_state(socket.get(), CLOSE);
}

/** The part of @total that is for number @index of @count. */
int share(int total, int index, int count)
{
	return static_cast<int>(std::int64_t{total} * (index + 1) / count -
				std::int64_t{total} * index / count);
}

/** Fills the process with its share and never returns. */
[[noreturn]] void be_one(const CrowdSize &size, int index, int ready)
try {
	Loopback loopback(index);
	std::vector<unique_fd> held;
	const int dead = share(size.dead, index, size.processes);
	const int pairs = share((size.sockets - size.dead) / 2, index,
				size.processes);

	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < pairs + dead; i++) {
		auto [socket, peer] = loopback.connect();

		if (i < dead)
			end_connection(std::move(peer), socket);
		else
			held.push_back(std::move(peer));
		held.push_back(std::move(socket));
	}
	check(::write(ready, "x", 1), "write");
	for (;;)
		::pause();
} catch (const std::exception &error) {
	std::fprintf(stderr, "a process of the crowd: %s\n", error.what());
	std::_Exit(1);
}

} // namespace

void allow_descriptors()
{
	constexpr rlim_t enough = 1 << 17;
	const rlimit more{enough, enough};
	rlimit files{};

	check(::getrlimit(RLIMIT_NOFILE, &files), "RLIMIT_NOFILE");
	/* Not everywhere may root raise the upper limit. */
	if (files.rlim_max < enough && ::setrlimit(RLIMIT_NOFILE, &more) == 0)
		return;
	files.rlim_cur = files.rlim_max;
	check(::setrlimit(RLIMIT_NOFILE, &files), "RLIMIT_NOFILE");
}

std::vector<unique_fd> dead_sockets(int count)
{
	Loopback loopback(0);
	std::vector<unique_fd> sockets;

	for (int i = 0; i < count; i++) {
		auto [socket, peer] = loopback.connect();

		end_connection(std::move(peer), socket);
		sockets.push_back(std::move(socket));
	}
	return sockets;
}

Crowd::Crowd(const CrowdSize &size)
{
	int ends[2];

	check(::pipe(ends), "pipe");

	const unique_fd all_ready(ends[0]);
	unique_fd ready(ends[1]);

	try {
		for (int i = 0; i < size.processes; i++)
			add_process(size, i, ready.get());
		ready.reset();
		for (int i = 0; i < size.processes; i++) {
			char byte = 0;

			if (check(::read(all_ready.get(), &byte, 1), "read") == 0)
				throw std::runtime_error(
					"a process of the crowd ended");
		}
	} catch (...) {
		end();
		throw;
	}
}

void Crowd::add_process(const CrowdSize &size, int index, int ready)
{
	const pid_t child = check(::fork(), "fork");

	if (child == 0) {
		const auto inside = netns_.enter();

		be_one(size, index, ready);
	}
	processes_.push_back(child);
}

void Crowd::end() noexcept
{
	for (const pid_t process : processes_)
		::kill(process, SIGKILL);
	for (const pid_t process : processes_)
		::waitpid(process, nullptr, 0);
}

Crowd::~Crowd()
{
	end();
}

} // namespace bench
