// SPDX-License-Identifier: GPL-2.0
#include "free.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "borrow.h"

namespace rxstall {

namespace {

/* While it lives, the thread runs on one CPU, if the kernel lets it. */
class [[nodiscard]] OnCpu {
public:
	explicit OnCpu(int cpu)
	{
		if (cpu < 0 || cpu >= CPU_SETSIZE ||
		    sched_getaffinity(0, sizeof(before_), &before_) != 0)
			return;
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	OnCpu(const OnCpu &) = delete;
	OnCpu &operator=(const OnCpu &) = delete;
	~OnCpu()
	{
		if (pinned_)
			sched_setaffinity(0, sizeof(before_), &before_);
	}

private:
	cpu_set_t before_;
	bool pinned_ = false;
};

/* Frees a FIN at the head of the queue; takes neither payload nor error. */
void receive_nothing(int fd)
{
	(void)!recv(fd, nullptr, 0, MSG_DONTWAIT);
}

/*
 * Drops the payload and no more: asking for exactly the unread bytes keeps
 * the call from going on to the pending error (net/ipv4/tcp.c:
 * tcp_recvmsg_locked).
 */
void discard_payload(int fd)
{
	int unread = 0;
	while (ioctl(fd, SIOCINQ, &unread) == 0 && unread > 0)
		if (recv(fd, nullptr, static_cast<size_t>(unread), MSG_TRUNC | MSG_DONTWAIT) <= 0)
			return;
}

/* What the receive queue holds; all that it held if the kernel does not say. */
uint32_t rmem_now(int fd, uint32_t held)
{
	std::array<uint32_t, SK_MEMINFO_VARS> memory{};
	socklen_t length = sizeof(memory);
	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &length) != 0)
		return held;
	return memory[SK_MEMINFO_RMEM_ALLOC];
}

void reset(int fd)
{
	sockaddr nowhere{};
	nowhere.sa_family = AF_UNSPEC;
	(void)connect(fd, &nowhere, sizeof(nowhere));
}

void act(int fd, Action action, uint32_t held)
{
	switch (action) {
	case Action::discard:
		discard_payload(fd);
		/* without a FIN, a read from the empty queue would go on to the pending error */
		if (rmem_now(fd, held) == 0)
			break;
		[[fallthrough]];
	case Action::receive:
		receive_nothing(fd);
		break;
	case Action::reset:
		reset(fd);
		break;
	case Action::leave:
		break;
	}
}

/* The iterator knows what a descriptor cannot tell; it holds while nothing has changed. */
void keep_known(Socket &fresh, const Socket &planned)
{
	if (fresh.state != planned.state || fresh.rmem != planned.rmem)
		return;
	if (fresh.out_of_order == Maybe::unknown)
		fresh.out_of_order = planned.out_of_order;
	if (fresh.error_queue == Maybe::unknown)
		fresh.error_queue = planned.error_queue;
}

Result<Fd> borrow_any(const Socket &planned)
{
	Error last{ESRCH, "no owner left"};
	for (const Owner &owner : planned.owners) {
		/* a thread with files of its own cannot be borrowed from by its process */
		if (owner.holder != Holder::process || owner.tid != owner.pid)
			continue;
		auto lender = Lender::open(owner.pid);
		if (!lender) {
			last = lender.error();
			continue;
		}
		auto fd = lender->borrow(owner.fd, planned.inode);
		if (fd)
			return fd;
		last = fd.error();
	}
	return tl::unexpected(last);
}

Freed not_freed(uint32_t rmem, bool failed, std::string text)
{
	return {Action::leave, rmem, rmem, failed, std::move(text)};
}

} // namespace

Freed free_socket(const Socket &planned, const Permit &permit)
{
	auto fd = borrow_any(planned);
	if (!fd && fd.error().code == EPERM)
		return not_freed(planned.rmem, true, "the process may not be looked into: it takes "
						     "CAP_SYS_PTRACE and a kernel that allows it");
	if (!fd)
		return not_freed(planned.rmem, false, "gone: " + fd.error().text);

	auto fresh = read_socket(fd->get(), planned.inode);
	if (!fresh)
		return not_freed(planned.rmem, false, fresh.error().text);
	if (planned.cookie && fresh->cookie != planned.cookie)
		return not_freed(planned.rmem, false, "gone: another socket has its inode number");
	if (fresh->rmem == 0)
		return not_freed(0, false, "its memory has been freed meanwhile");

	fresh->owners = planned.owners;
	keep_known(*fresh, planned);
	const Decision decision = decide(*fresh, permit, getpid());
	if (decision.action == Action::leave)
		return not_freed(fresh->rmem, false, decision.text);

	{
		OnCpu pin(fresh->cpu);
		act(fd->get(), decision.action, fresh->rmem);
	}
	Freed freed{decision.action, fresh->rmem, rmem_now(fd->get(), fresh->rmem), false, decision.text};
	if (freed.after == 0)
		return freed;
	freed.failed = true;
	freed.text = "still holds memory: a sockmap program or an error queue may own it";
	return freed;
}

bool kick_deferred()
{
	cpu_set_t allowed;
	Fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t length = sizeof(address);
	auto *generic = reinterpret_cast<sockaddr *>(&address);

	if (!fd || bind(fd.get(), generic, length) != 0 ||
	    getsockname(fd.get(), generic, &length) != 0 ||
	    sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return false;

	bool sent = true;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		OnCpu pin(cpu);
		char byte = 0;
		sent &= sendto(fd.get(), &byte, 1, 0, generic, length) == 1;
		(void)!recv(fd.get(), &byte, 1, 0);
	}
	return sent;
}

} // namespace rxstall
