// SPDX-License-Identifier: GPL-2.0
/*
 * Many sockets, for measuring: crowd SOCKETS PROCESSES DEAD. In a network
 * namespace of its own each process holds both ends of established
 * connections over loopback; DEAD sockets in all have got FIN and RST. Says
 * "ready PID" when all are there and ends when its standard input does.
 */
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

[[noreturn]] void die(const char *what)
{
	std::perror(what);
	std::exit(1);
}

void raise_loopback()
{
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);
	ifreq request{"lo", {}};
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) != 0)
		die("lo");
	close(fd);
}

/* Each process has an address, so that ports do not run out. */
void fill(unsigned index, int pairs, int dead)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + index + 1);
	address.sin_port = htons(9092);
	const auto *generic = reinterpret_cast<const sockaddr *>(&address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, generic, sizeof(address)) != 0 || listen(listener, 64) != 0)
		die("listen");
	for (int i = 0; i < pairs; i++) {
		const int client = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(client, generic, sizeof(address)) != 0)
			die("connect");
		if (accept(listener, nullptr, nullptr) < 0)
			die("accept");
		if (i >= dead)
			continue;
		const linger now{1, 0};
		shutdown(client, SHUT_WR);
		setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(client);
	}
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const int sockets = std::atoi(argv[1]), processes = std::atoi(argv[2]), dead = std::atoi(argv[3]);
	const int pairs = sockets / processes / 2;
	const auto files = static_cast<rlim_t>(2 * pairs + 64);
	const rlimit limit{files, files};
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || unshare(CLONE_NEWNET) != 0)
		die("crowd needs root");
	raise_loopback();

	int ready[2];
	if (pipe(ready) != 0)
		die("pipe");
	for (int i = 0; i < processes; i++) {
		const pid_t child = fork();
		if (child < 0)
			die("fork");
		if (child != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fill(static_cast<unsigned>(i), pairs, dead / processes);
		(void)!write(ready[1], "x", 1);
		pause();
		std::_Exit(0);
	}
	char byte;
	for (int have = 0; have < processes; have++)
		if (read(ready[0], &byte, 1) != 1)
			die("a process of the crowd failed");
	std::printf("ready %d\n", getpid());
	std::fflush(stdout);
	while (std::getchar() != EOF)
		;
	return 0;
}
