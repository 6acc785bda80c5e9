// SPDX-License-Identifier: GPL-2.0
#include "decide.h"

#include "judge.h"

namespace rxstall {

namespace {

Decision leave(const char *text) { return {Action::leave, text}; }

Decision by_reset(const Socket &socket, const Permit &permit)
{
	if (!permit.reset)
		return leave("a zero-length read frees nothing here: --reset would, and the "
			     "application then gets EPIPE or ENOTCONN instead of 0");
	if (socket.state != State::close)
		return leave("connection still up in one direction: --reset would break it");
	return {Action::reset, "wake-up, then EPIPE or ENOTCONN; the peer's address is gone"};
}

} // namespace

Decision decide(const Socket &socket, const Permit &permit, int self)
{
	if (!is_over(socket.state))
		return leave("live connection");
	if (!socket.ulp.empty())
		return leave("an upper-layer protocol (such as kTLS) owns the queue");

	const Owner *owner = nullptr;
	for (const Owner &candidate : socket.owners) {
		if (candidate.pid == self)
			return leave("our own");
		if (candidate.pid == 1)
			return leave("PID 1 is left alone");
		if (candidate.holder == Holder::process && !owner)
			owner = &candidate;
	}
	if (!owner)
		return leave("no process holds a descriptor that could be borrowed");

	switch (classify(socket)) {
	case Class::fin_only:
		return {Action::receive, "the application notices nothing"};
	case Class::payload:
		if (permit.reset && socket.state == State::close && permit.discard_unread)
			return by_reset(socket, permit);
		if (!permit.discard_unread)
			return leave("payload unread: --discard-unread drops it, and the application "
				     "then reads an end of file or the error that was pending");
		return {Action::discard, "the unread bytes are lost; later errors stay right"};
	case Class::out_of_order:
	case Class::error_queue:
	case Class::unclear:
		return by_reset(socket, permit);
	case Class::empty:
		break;
	}
	return leave("holds no receive memory");
}

} // namespace rxstall
