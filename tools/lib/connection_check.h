/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a connection pool should ask before it hands out an idle connection,
 * and about those that it keeps: can it still be used, has the peer closed
 * it, was it reset, is something unread? One file, to be copied; it needs
 * Linux 3.10 and C++17, and nothing of this program.
 *
 * Nothing is read and no error is taken away: getsockopt(TCP_INFO), poll()
 * and FIONREAD only look, while recv(MSG_PEEK) and SO_ERROR take a pending
 * error (net/core/sock.c: sock_error), and the next real call would then
 * not see it. There is no state here, so any thread may ask about any
 * descriptor, also while another one uses it. The answer is of the moment:
 * a connection that is usable now may be closed by its peer a moment
 * later, so a caller must be ready for errors all the same.
 */
#pragma once

#include <cerrno>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace connection_check {

/*
 * The kernel's numbers (include/net/tcp_states.h, include/uapi/linux/tcp.h), for
 * netinet/tcp.h and linux/tcp.h cannot be included together.
 */
enum : uint8_t { state_established = 1, state_close = 7, state_close_wait = 8, state_last_ack = 9, state_closing = 11 };
inline constexpr int option_tcp_info = 11;

enum class Verdict : uint8_t {
	usable,		/* both directions open, nothing unread */
	unread,		/* open, but the peer has sent what nobody asked for, or nobody read */
	peer_closed,	/* its FIN has come (CLOSE_WAIT), or we shut down reading: close */
	reset,		/* over, with a pending error: a RST came or it timed out: close */
	over,		/* over, or never connected, without a pending error: close */
	not_connected,	/* on its way up, or we have shut down our own direction */
	not_tcp,	/* no TCP socket, or no descriptor at all */
};

struct Answer {
	Verdict verdict = Verdict::not_tcp;
	uint32_t unread = 0;	/* bytes of payload that recv() would give, also after FIN or RST */
};

/* TCP's state, 0 if it is no TCP socket. */
inline uint8_t tcp_state(int fd)
{
	int protocol = 0;
	socklen_t length = sizeof(protocol);
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) != 0 || protocol != IPPROTO_TCP)
		return 0;	/* TCP_INFO of an MPTCP socket is not that of a subflow */
	uint8_t state = 0;
	length = sizeof(state);
	return getsockopt(fd, IPPROTO_TCP, option_tcp_info, &state, &length) == 0 ? state : 0;
}

/* Bytes of payload in the receive queue, the FIN not counted; 0 for a listener. */
inline uint32_t unread_bytes(int fd)
{
	int bytes = 0;
	return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<uint32_t>(bytes) : 0;
}

/*
 * The state is asked first and poll() last, so that what arrives in between
 * only makes the answer worse, never better than the truth. With
 * SO_TIMESTAMPING or SO_ZEROCOPY, notes in the error queue look like a
 * pending error: a dead connection may then be `reset` where it was `over`.
 */
inline Answer check(int fd)
{
	const uint8_t state = tcp_state(fd);
	if (state == 0)
		return {};
	Answer answer;
	answer.unread = unread_bytes(fd);
	pollfd entry{fd, POLLRDHUP, 0};
	while (poll(&entry, 1, 0) < 0)
		if (errno != EINTR)
			return {};

	/* POLLHUP: both directions are down; for TCP that is CLOSE, TIME_WAIT or after our own shutdown() */
	if (state == state_close || (entry.revents & POLLHUP))
		answer.verdict = entry.revents & POLLERR ? Verdict::reset : Verdict::over;
	else if (state == state_close_wait || state == state_last_ack || state == state_closing)
		answer.verdict = Verdict::peer_closed;
	else if (state != state_established)
		answer.verdict = Verdict::not_connected;
	else if (entry.revents & POLLRDHUP)
		answer.verdict = Verdict::peer_closed;
	else
		answer.verdict = answer.unread ? Verdict::unread : Verdict::usable;
	return answer;
}

} // namespace connection_check
