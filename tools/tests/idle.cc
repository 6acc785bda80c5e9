// SPDX-License-Identifier: GPL-2.0
/*
 * The two ends of idle connections, for tests that need a real device below.
 *   idle hold ADDRESS COUNT   accepts COUNT connections, reads nothing, says
 *                             "held"; then obeys lines: "send" tries to send
 *                             on the first and prints the errno's name or 0;
 *                             "recv" prints what recv() returns; end of file
 *                             ends it.
 *   idle peer ADDRESS COUNT   opens COUNT connections, says "connected"; at
 *                             "reset" it sends FIN, then RST on each.
 */
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint16_t port = 9092;

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::exit(1);
}

sockaddr_in address_of(const char *text)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		die("address");
	return address;
}

const sockaddr *generic(const sockaddr_in &address)
{
	return reinterpret_cast<const sockaddr *>(&address);
}

std::vector<int> accept_all(const char *where, int count)
{
	const sockaddr_in address = address_of(where);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	const int on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, generic(address), sizeof(address)) != 0 || listen(listener, 4096) != 0)
		die("listen");
	std::cout << "listening" << std::endl;

	std::vector<int> sockets;
	for (int i = 0; i < count; i++)
		sockets.push_back(accept(listener, nullptr, nullptr));
	return sockets;
}

std::vector<int> connect_all(const char *where, int count)
{
	const sockaddr_in address = address_of(where);
	std::vector<int> sockets;
	for (int i = 0; i < count; i++) {
		sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
		if (connect(sockets.back(), generic(address), sizeof(address)) != 0)
			die("connect");
	}
	return sockets;
}

/* With SO_LINGER 0, close() after shutdown() puts a FIN and then a RST on the wire. */
void reset(const std::vector<int> &sockets)
{
	for (int fd : sockets)
		shutdown(fd, SHUT_WR);
	usleep(100'000);
	for (int fd : sockets) {
		const linger now{1, 0};
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(fd);
	}
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const std::string mode = argv[1];
	const int count = std::atoi(argv[3]);
	auto sockets = mode == "hold" ? accept_all(argv[2], count) : connect_all(argv[2], count);
	std::cout << (mode == "hold" ? "held" : "connected") << std::endl;

	for (std::string line; std::getline(std::cin, line);) {
		char byte = 0;
		if (line == "reset")
			reset(sockets);
		else if (line == "send")
			std::cout << (send(sockets[0], &byte, 1, MSG_NOSIGNAL) < 0
				? strerrorname_np(errno) : "0");
		else if (line == "recv")
			std::cout << recv(sockets[0], &byte, 1, MSG_DONTWAIT);
		std::cout << (line == "reset" ? "done" : "") << std::endl;
	}
}
