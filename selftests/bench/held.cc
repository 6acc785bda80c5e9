// SPDX-License-Identifier: GPL-2.0
/*
 * What dead sockets hold: memory as the kernel reports it, after 0, 1000, 10000 and
 * 100000 connections that a peer has ended with FIN and RST. They come over veth
 * with XDP, so what they hold are pages of a page pool. The link is replaced after
 * each step, as when a network card is reset: a pool's pages in flight are known
 * only once it has been destroyed.
 *
 * With nothing unread, a socket in CLOSE holds nothing: that kind shows what the
 * sockets themselves take.
 */
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <sstream>

#include "bench/setting.h"
#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/cpu.h"
#include "lib/stall.h"
#include "lib/sysctl.h"
#include "lib/tcp_socket.h"

namespace {

using namespace selftest;
using bench::Setting;

struct Kind {
	const char *name;
	std::size_t bytes;	/* unread, in front of the FIN */
	bool read;		/* the application has read the FIN */
};

constexpr Kind kinds[] = {
	{"nothing", 0, true}, {"FIN", 0, false}, {"3 KB", 3000, false}};

/** A figure of /proc/meminfo, in KiB; throws if there is none. */
std::int64_t meminfo(const std::string &name)
{
	std::ifstream file("/proc/meminfo");
	std::string line;

	while (std::getline(file, line))
		if (line.starts_with(name + ':'))
			return std::stoll(line.substr(name.size() + 1));
	throw std::runtime_error("/proc/meminfo has no " + name);
}

unique_fd socket_in(const Netns &where)
{
	const auto inside = where.enter();

	return unique_fd(check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			       "socket"));
}

/** Like wait_for_state(), but asks for nothing else: this is called often. */
void await(const unique_fd &socket, TcpState wanted)
{
	std::uint8_t state = 0;
	socklen_t length = sizeof(state);

	/* tcpi_state is the first member. */
	check(::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &state, &length),
	      "TCP_INFO");
	if (state != wanted)
		wait_for_state(socket.get(), wanted);
}

class Crowd {
public:
	Crowd(const Setting &setting, const Kind &kind)
		: kind_(kind), listener_(socket_in(peer_))
	{
		const auto inside = receiver_.enter();

		set_purge(setting.value);
		check(::listen(listener_.get(), 1), "listen");
		port_ = local_address(listener_.get()).port();
	}

	/** Adds dead sockets until there are @size, and replaces the link. */
	void grow(std::size_t size)
	{
		VethLink link(peer_, receiver_);

		{
			const auto inside = receiver_.enter();

			while (dead_.size() < size)
				dead_.push_back(add(link));
		}
		link.remove();
	}

	/** Pages in flight of all pools so far, as they last reported. */
	std::int64_t pages_in_flight()
	{
		std::int64_t sum = 0;

		for (const TraceEvent &event : trace_.read())
			pools_[event.fields.at("page_pool")] =
				event.number("inflight");
		for (const auto &[pool, pages] : pools_)
			sum += pages;
		return sum;
	}

private:
	unique_fd add(const VethLink &link)
	{
		const Address to = link.peer_address(port_);
		const linger now{1, 0};
		unique_fd ours(check(
			::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			"socket"));

		check(::connect(ours.get(), to.get(), to.length), "connect");

		unique_fd theirs(check(::accept4(listener_.get(), nullptr,
						 nullptr, SOCK_CLOEXEC),
				       "accept"));

		if (kind_.bytes)
			check(::send(theirs.get(), payload_.data(), kind_.bytes,
				     0), "send");
		check(::shutdown(theirs.get(), SHUT_WR), "shutdown");
		await(ours, CLOSE_WAIT);
		if (kind_.read)
			check(::recv(ours.get(), nullptr, 0, MSG_DONTWAIT),
			      "recv");
		check(::setsockopt(theirs.get(), SOL_SOCKET, SO_LINGER, &now,
				   sizeof(now)), "SO_LINGER");
		theirs.reset();
		await(ours, CLOSE);
		return ours;
	}

	Kind kind_;
	Trace trace_{{release_event}};
	Netns peer_ = Netns::create();
	Netns receiver_ = Netns::create();
	unique_fd listener_;
	std::uint16_t port_ = 0;
	std::string payload_ = std::string(3000, 'x');
	std::vector<unique_fd> dead_;
	std::map<std::string, std::int64_t> pools_;
};

/** What is freed late comes back, and file systems let go of what they cache. */
void settle()
{
	if (const int error = sysctl_write("vm.drop_caches", "3"))
		fail(error, "vm.drop_caches");
	/* Longer than a pool waits before it tries again, and tells. */
	wait(std::chrono::seconds(2));
}

void measure_series(const Setting &setting, const Kind &kind,
		    const std::vector<std::size_t> &sizes)
{
	/* Frees of one CPU's segments by another may be put off. */
	stay_on_this_cpu();

	Crowd crowd(setting, kind);

	for (const std::size_t size : sizes) {
		crowd.grow(size);
		settle();
		bench::print("held", setting,
			     {{"unread", kind.name},
			      {"sockets", size},
			      {"sockstat_pages", Sockstat::read().mem},
			      {"pool_pages", crowd.pages_in_flight()},
			      {"slab_kib", meminfo("Slab")},
			      {"available_kib", meminfo("MemAvailable")}});
	}
}

/** The limits that so many sockets would run into. */
void raise_limits(std::size_t sockets)
{
	const rlimit files{sockets + 100, sockets + 100};

	check(::setrlimit(RLIMIT_NOFILE, &files), "RLIMIT_NOFILE");
	for (const auto &[name, value] :
	     {std::pair{"fs.file-max", "1000000"},
	      std::pair{"net.ipv4.tcp_mem", "1000000 1000000 1000000"}})
		if (const int error = sysctl_write(name, value))
			fail(error, name);
}

void measure(const bench::Request &request)
{
	std::vector<std::size_t> sizes{0};

	for (std::size_t size = request.quick ? 100 : 1000;
	     size <= (request.quick ? 100 : request.sockets); size *= 10)
		sizes.push_back(size);
	raise_limits(sizes.back());
	for (const Setting &setting : request.settings)
		for (const Kind &kind : kinds) {
			/* What holds nothing is not purged: once will do. */
			if (kind.read && setting.value != Purge::off)
				continue;
			bench::in_child([&] {
				measure_series(setting, kind, sizes);
			});
		}
}

} // namespace

int main(int argc, char **argv)
{
	return bench::run("held", measure, argc, argv);
}
