// SPDX-License-Identifier: GPL-2.0
#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include "checked.h"

namespace selftest {

LoopbackPair loopback_pair(int protocol)
{
	TcpSocket listener = TcpSocket::create(Family::v4, protocol);
	TcpSocket app = TcpSocket::create(Family::v4, protocol);
	Address address;
	auto *in = reinterpret_cast<sockaddr_in *>(&address.storage);

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.length = sizeof(*in);
	check(::bind(listener.fd(), address.get(), address.length), "bind");
	check(::listen(listener.fd(), 1), "listen");
	address = local_address(listener.fd());
	if (::connect(app.fd(), address.get(), address.length) &&
	    errno != EINPROGRESS)
		fail(errno, "connect over loopback");

	pollfd waiting{listener.fd(), POLLIN, 0};

	check(::poll(&waiting, 1, 5000), "poll");
	TcpSocket peer(unique_fd(check(::accept4(listener.fd(), nullptr, nullptr,
						 SOCK_NONBLOCK | SOCK_CLOEXEC),
				       "accept over loopback")));

	wait_for_state(app.fd(), ESTABLISHED);
	return {std::move(app), std::move(peer)};
}

void finish(TcpSocket &peer, const TcpSocket &app)
{
	check(::shutdown(peer.fd(), SHUT_WR), "shutdown");
	wait_for_state(app.fd(), CLOSE_WAIT);
}

void reset(TcpSocket &peer, const TcpSocket &app)
{
	const linger now{1, 0};

	check(::setsockopt(peer.fd(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)),
	      "SO_LINGER");
	peer.close();
	wait_for_state(app.fd(), CLOSE);
}

} // namespace selftest
