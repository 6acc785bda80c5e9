// SPDX-License-Identifier: GPL-2.0
#include "facts.h"

#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <array>
#include <string_view>
#include <utility>

#include "checked.h"

namespace selftest {

namespace {

tcp_info info_of(int fd)
{
	tcp_info info{};
	socklen_t length = sizeof(info);

	check(::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length),
	      "TCP_INFO");
	return info;
}

bool is_on(int fd, int option)
{
	int value = 0;
	socklen_t length = sizeof(value);

	/* An option this kernel does not know cannot be on. */
	return ::getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 &&
	       value != 0;
}

constexpr std::array<const char *, 12> state_names = {
	"state 0",   "ESTABLISHED", "SYN_SENT", "SYN_RECV",
	"FIN_WAIT1", "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
	"CLOSE_WAIT", "LAST_ACK",   "LISTEN",	"CLOSING",
};

} // namespace

std::string state_name(int state)
{
	const auto index = static_cast<std::size_t>(state);

	return index < state_names.size() ? state_names[index]
					  : "state " + std::to_string(state);
}

const char *to_string(Queue queue)
{
	switch (queue) {
	case Queue::empty:
		return "empty";
	case Queue::payload:
		return "payload unread";
	case Queue::fin:
		return "FIN only";
	case Queue::out_of_order:
		return "out of order";
	case Queue::error_queue:
		return "error queue";
	}
	return "?";
}

Queue Facts::queue() const
{
	if (rmem == 0)
		return Queue::empty;
	if (unread > 0)
		return Queue::payload;
	if (ooo_packets > 0)
		return Queue::out_of_order;
	return stamps ? Queue::error_queue : Queue::fin;
}

Facts facts_of(int fd)
{
	const tcp_info info = info_of(fd);
	std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
	socklen_t length = sizeof(memory);
	Facts facts;
	pollfd wanted{fd, POLLIN | POLLPRI | POLLOUT | POLLRDHUP, 0};

	facts.state = info.tcpi_state;
	facts.ooo_packets = info.tcpi_rcv_ooopack;
	check(::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &length),
	      "SO_MEMINFO");
	facts.rmem = memory[SK_MEMINFO_RMEM_ALLOC];
	check(::ioctl(fd, FIONREAD, &facts.unread), "FIONREAD");
	check(::poll(&wanted, 1, 0), "poll");
	facts.poll = wanted.revents;
	facts.stamps = is_on(fd, SO_TIMESTAMPING) || is_on(fd, SO_ZEROCOPY);
	return facts;
}

void wait_for_state(int fd, int state)
{
	for (int tries = 0; facts_of(fd).state != state; tries++) {
		if (tries == 5000)
			fail(ETIMEDOUT, "the connection did not become " +
						state_name(state));
		::poll(nullptr, 0, 1);
	}
}

std::string poll_text(int bits)
{
	static constexpr std::array<std::pair<int, std::string_view>, 7> names{{
		{POLLIN, "IN"},	  {POLLPRI, "PRI"},	{POLLOUT, "OUT"},
		{POLLERR, "ERR"}, {POLLHUP, "HUP"},	{POLLRDHUP, "RDHUP"},
		{POLLNVAL, "NVAL"},
	}};
	std::string text;

	for (const auto &[bit, name] : names) {
		if ((bits & bit) == 0)
			continue;
		if (!text.empty())
			text += ' ';
		text += name;
	}
	return text.empty() ? "none" : text;
}

std::uint32_t accept_queue_of(int listener)
{
	return info_of(listener).tcpi_unacked;
}

} // namespace selftest
