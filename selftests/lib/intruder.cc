// SPDX-License-Identifier: GPL-2.0
#include "intruder.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <tins/ip.h>
#include <tins/tcp.h>

#include <array>

#include "checked.h"

namespace selftest {

namespace {

const char *const loopback = "127.0.0.1";

unique_fd open_socket(int family, int type, int protocol)
{
	return unique_fd(check(::socket(family, type | SOCK_CLOEXEC, protocol),
			       "a raw socket"));
}

} // namespace

Intruder::Intruder()
	: sniffer_(open_socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP))),
	  sender_(open_socket(AF_INET, SOCK_RAW, IPPROTO_RAW))
{
}

void Intruder::watch(std::uint16_t app_port, std::uint16_t peer_port)
{
	app_port_ = app_port;
	peer_port_ = peer_port;
	listen();
}

void Intruder::listen()
{
	std::array<std::uint8_t, 65536> buffer;
	ssize_t n;

	while ((n = ::recv(sniffer_.get(), buffer.data(), buffer.size(),
			   MSG_DONTWAIT)) > 0) {
		const Tins::IP ip(buffer.data(), static_cast<std::uint32_t>(n));
		const auto *tcp = ip.find_pdu<Tins::TCP>();

		if (!tcp || tcp->sport() != app_port_ ||
		    tcp->dport() != peer_port_ || !tcp->get_flag(Tins::TCP::ACK))
			continue;
		if (!known_)
			first_ = tcp->ack_seq();
		known_ = true;
		next_ = tcp->ack_seq();
		app_next_ = tcp->seq();
	}
}

void Intruder::send(std::uint16_t flags)
{
	sockaddr_in to{};
	Tins::IP packet(loopback, loopback);
	Tins::TCP tcp(app_port_, peer_port_);

	listen();
	tcp.flags(flags);
	tcp.seq(next_);
	tcp.ack_seq(app_next_);
	tcp.window(65535);
	packet.ttl(64);
	packet /= tcp;

	const auto bytes = packet.serialize();

	to.sin_family = AF_INET;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(::sendto(sender_.get(), bytes.data(), bytes.size(), 0,
		       reinterpret_cast<const sockaddr *>(&to), sizeof(to)),
	      "sending a segment as the peer");
}

} // namespace selftest
