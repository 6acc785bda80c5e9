// SPDX-License-Identifier: GPL-2.0
#include "tcp_socket.h"

#include "checked.h"
#include "segment.h"

namespace selftest {

TcpSocket TcpSocket::create(Family family, int protocol)
{
	return TcpSocket(unique_fd(
		check(::socket(domain_of(family),
			       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			       protocol),
		      "socket")));
}

TcpSocket::~TcpSocket()
{
	const linger abort{1, 0};

	if (fd_)
		(void)::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &abort,
				   sizeof(abort));
}

Outcome TcpSocket::recv(std::size_t size, int flags)
{
	std::string bytes(size, '\0');
	Outcome outcome = outcome_of(
		[&] { return ::recv(fd(), bytes.data(), size, flags); });

	if (outcome.value > 0 && (flags & MSG_TRUNC) == 0) {
		bytes.resize(static_cast<std::size_t>(outcome.value));
		outcome.data = std::move(bytes);
	}
	return outcome;
}

Outcome TcpSocket::send(std::size_t size, int flags)
{
	const std::string bytes = pattern(0, size);

	return outcome_of(
		[&] { return ::send(fd(), bytes.data(), size, flags); });
}

Outcome TcpSocket::shutdown(int how)
{
	return outcome_of([&] { return ::shutdown(fd(), how); });
}

Outcome TcpSocket::close()
{
	const int fd = fd_.release();

	return outcome_of([&] { return ::close(fd); });
}

void TcpSocket::set(int level, int option, int value)
{
	check(::setsockopt(fd(), level, option, &value, sizeof(value)),
	      "setsockopt");
}

int TcpSocket::take_so_error()
{
	int error = 0;
	socklen_t length = sizeof(error);

	check(::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &length),
	      "SO_ERROR");
	return error;
}

Listener::Listener(Family family, int backlog, int protocol)
	: family_(family), socket_(TcpSocket::create(family, protocol))
{
	const Address any = kernel_address(family, 0);

	check(::bind(fd(), any.get(), any.length), "bind");
	check(::listen(fd(), backlog), "listen");
	port_ = local_address(fd()).port();
}

TcpSocket Listener::accept()
{
	return TcpSocket(unique_fd(
		check(::accept4(fd(), nullptr, nullptr,
				SOCK_NONBLOCK | SOCK_CLOEXEC),
		      "accept4")));
}

} // namespace selftest
