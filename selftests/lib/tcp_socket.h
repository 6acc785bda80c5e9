// SPDX-License-Identifier: GPL-2.0
/*
 * The application's side of a test: a socket of the TCP under test. Calls return
 * an Outcome, so that a test can compare what it got with what the contract
 * says. All calls are non-blocking unless the flags say otherwise.
 */
#pragma once

#include <sys/socket.h>

#include <string>

#include "address.h"
#include "facts.h"
#include "outcome.h"
#include "unique_fd.h"

namespace selftest {

class TcpSocket {
public:
	/** A new socket; @protocol may be IPPROTO_MPTCP. Throws. */
	static TcpSocket create(Family family, int protocol = IPPROTO_TCP);

	/** Takes over a descriptor, for instance from accept(). */
	explicit TcpSocket(unique_fd fd) : fd_(std::move(fd)) {}

	TcpSocket(TcpSocket &&) = default;
	TcpSocket &operator=(TcpSocket &&) = default;

	/**
	 * Closes with SO_LINGER 0, so that no orphan keeps a dead namespace
	 * alive. A test that looks at what closing does calls close().
	 */
	~TcpSocket();

	[[nodiscard]] int fd() const { return fd_.get(); }

	/** recv() of up to @size bytes; the bytes are in the outcome. */
	Outcome recv(std::size_t size, int flags = MSG_DONTWAIT);
	/** send() of @size bytes, never with MSG_NOSIGNAL. */
	Outcome send(std::size_t size, int flags = MSG_DONTWAIT);
	Outcome shutdown(int how);
	/** A plain close(); with unread data Linux sends an RST. */
	Outcome close();

	/** Sets an int option; throws std::system_error. */
	void set(int level, int option, int value);

	/** SO_ERROR, which this takes away from the socket. 0 when none. */
	int take_so_error();

	/** State, memory, unread bytes, poll bits; changes nothing. */
	[[nodiscard]] Facts facts() const { return facts_of(fd()); }

private:
	unique_fd fd_;
};

/** A listening socket on the kernel's address. */
class Listener {
public:
	/** Listens on a port the kernel chooses; @backlog up to somaxconn. */
	explicit Listener(Family family, int backlog = 128,
			  int protocol = IPPROTO_TCP);

	/** accept(); throws std::system_error(EAGAIN) when none is waiting. */
	TcpSocket accept();

	/** Connections that wait for accept(). */
	[[nodiscard]] std::uint32_t waiting() const
	{
		return accept_queue_of(socket_.fd());
	}
	[[nodiscard]] Family family() const { return family_; }
	[[nodiscard]] std::uint16_t port() const { return port_; }
	[[nodiscard]] int fd() const { return socket_.fd(); }

private:
	Family family_;
	TcpSocket socket_;
	std::uint16_t port_ = 0;
};

} // namespace selftest
