// SPDX-License-Identifier: GPL-2.0
/*
 * The two ends of idle connections, for tests that need a real device below.
 *   idle hold ADDRESS COUNT   accepts COUNT connections, reads nothing, says
 *                             "held"; then obeys lines about the first of them:
 *         send, recv, error   prints the errno's name, or what recv() returns
 *         ktls, sockmap       puts it under such a thing
 *         pass                sends it over a unix socket of ours and closes it
 *         ring                registers it with an io_uring and closes it
 *                             each of these prints 0 or the errno's name
 *   idle peer ADDRESS COUNT   opens COUNT connections, says "connected"; on each
 *         data, fin, reset    sends 20000 bytes; a FIN; a FIN, then a RST
 * End of file ends it. IDLE_PROTOCOL is the sockets' protocol, 0 by default.
 */
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

int stream()
{
	const char *protocol = std::getenv("IDLE_PROTOCOL");
	const int fd = socket(AF_INET, SOCK_STREAM, protocol ? std::atoi(protocol) : 0);
	if (fd < 0)
		die("socket");
	return fd;
}

std::string result(long value) { return value < 0 ? strerrorname_np(errno) : "0"; }

std::string pending_error(int fd)
{
	int error = 0;
	socklen_t length = sizeof(error);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error)
		return strerrorname_np(error);
	return "0";
}

/* A sockmap alone, without a program, is enough to take over recvmsg(). */
std::string into_sockmap(int fd)
{
	bpf_attr create{};
	create.map_type = BPF_MAP_TYPE_SOCKMAP;
	create.key_size = create.value_size = 4;
	create.max_entries = 1;
	const long map = syscall(SYS_bpf, BPF_MAP_CREATE, &create, sizeof(create));
	if (map < 0)
		return result(map);
	uint32_t key = 0, value = static_cast<uint32_t>(fd);
	bpf_attr update{};
	update.map_fd = static_cast<uint32_t>(map);
	update.key = reinterpret_cast<uint64_t>(&key);
	update.value = reinterpret_cast<uint64_t>(&value);
	return result(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update)));
}

std::string pass_on(int fd)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
		return result(-1);
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	char byte = 0;
	iovec data{&byte, 1};
	msghdr message{};
	message.msg_iov = &data;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	cmsghdr *rights = CMSG_FIRSTHDR(&message);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
	if (sendmsg(pair[0], &message, 0) < 0)
		return result(-1);
	return result(close(fd));
}

std::string into_ring(int fd)
{
	io_uring_params params{};
	const long ring = syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) < 0)
		return result(-1);
	return result(close(fd));
}

std::vector<int> accept_all(const char *where, int count)
{
	const sockaddr_in address = address_of(where);
	const int listener = stream();
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
		sockets.push_back(stream());
		if (connect(sockets.back(), generic(address), sizeof(address)) != 0)
			die("connect");
	}
	return sockets;
}

void send_data(const std::vector<int> &sockets)
{
	const std::string data(20'000, 'x');
	for (int fd : sockets)
		if (send(fd, data.data(), data.size(), 0) != static_cast<ssize_t>(data.size()))
			die("send");
}

void finish(const std::vector<int> &sockets)
{
	for (int fd : sockets)
		shutdown(fd, SHUT_WR);
}

/* With SO_LINGER 0, close() after shutdown() puts a FIN and then a RST on the wire. */
void reset(const std::vector<int> &sockets)
{
	finish(sockets);
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
		const int first = sockets[0];
		char byte = 0;
		std::string answer = line + " done";
		if (line == "reset")
			reset(sockets);
		else if (line == "fin")
			finish(sockets);
		else if (line == "data")
			send_data(sockets);
		else if (line == "send")
			answer = result(send(first, &byte, 1, MSG_NOSIGNAL));
		else if (line == "recv")
			answer = std::to_string(recv(first, &byte, 1, MSG_DONTWAIT));
		else if (line == "error")
			answer = pending_error(first);
		else if (line == "ktls")
			answer = result(setsockopt(first, IPPROTO_TCP, TCP_ULP, "tls", 3));
		else if (line == "sockmap")
			answer = into_sockmap(first);
		else if (line == "pass")
			answer = pass_on(first);
		else if (line == "ring")
			answer = into_ring(first);
		std::cout << answer << std::endl;
	}
}
