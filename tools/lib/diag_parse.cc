// SPDX-License-Identifier: GPL-2.0
#include "diag_parse.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

namespace rxstall {

namespace {

Endpoint endpoint(int family, const void *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "";
	inet_ntop(family, address, text, sizeof(text));
	return {text, ntohs(port)};
}

void read_memory(const nlattr *attr, Socket &socket)
{
	uint32_t rmem = 0;
	if (mnl_attr_get_payload_len(attr) < sizeof(rmem))
		return;
	static_assert(SK_MEMINFO_RMEM_ALLOC == 0);
	std::memcpy(&rmem, mnl_attr_get_payload(attr), sizeof(rmem));
	socket.rmem = rmem;
}

void read_info(const nlattr *attr, Socket &socket)
{
	/* older kernels send less, newer ones more */
	tcp_info info{};
	const size_t length = std::min<size_t>(mnl_attr_get_payload_len(attr), sizeof(info));
	std::memcpy(&info, mnl_attr_get_payload(attr), length);
	if (length >= offsetof(tcp_info, tcpi_last_ack_recv) + sizeof(info.tcpi_last_ack_recv))
		socket.age_ms = info.tcpi_last_ack_recv;
	if (info.tcpi_rcv_ooopack && !fin_received(socket.state))
		socket.out_of_order = Maybe::unknown;
}

void read_ulp(const nlattr *attr, Socket &socket)
{
	const auto *inner = static_cast<const nlattr *>(mnl_attr_get_payload(attr));
	int left = mnl_attr_get_payload_len(attr);

	for (; mnl_attr_ok(inner, left); inner = mnl_attr_next(inner)) {
		if (mnl_attr_get_type(inner) == INET_ULP_INFO_NAME) {
			const auto *text = static_cast<const char *>(mnl_attr_get_payload(inner));
			socket.ulp.assign(text, strnlen(text, mnl_attr_get_payload_len(inner)));
		}
		left -= static_cast<int>(MNL_ALIGN(inner->nla_len));
	}
}

} // namespace

bool fin_received(State state)
{
	return state == State::close_wait || state == State::last_ack || state == State::closing;
}

std::optional<DiagSocket> parse_diag(std::span<const uint8_t> payload)
{
	inet_diag_msg message;
	if (payload.size() < sizeof(message))
		return std::nullopt;
	std::memcpy(&message, payload.data(), sizeof(message));
	if (message.idiag_family != AF_INET && message.idiag_family != AF_INET6)
		return std::nullopt;

	DiagSocket out;
	Socket &socket = out.socket;
	socket.state = static_cast<State>(message.idiag_state);
	/* a request socket (TCP_NEW_SYN_RECV) is one in SYN_RECV to the outside */
	if (message.idiag_state == 0 || message.idiag_state > static_cast<uint8_t>(State::closing))
		socket.state = State::syn_recv;
	socket.family = message.idiag_family == AF_INET ? Family::ipv4 : Family::ipv6;
	socket.local = endpoint(message.idiag_family, message.id.idiag_src, message.id.idiag_sport);
	socket.peer = endpoint(message.idiag_family, message.id.idiag_dst, message.id.idiag_dport);
	socket.inode = message.idiag_inode;
	socket.cookie = message.id.idiag_cookie[0] |
			static_cast<uint64_t>(message.id.idiag_cookie[1]) << 32;
	out.receive_queue = message.idiag_rqueue;
	if (socket.state != State::listen)
		socket.unread = message.idiag_rqueue;
	/* the FIN has a sequence number but is no payload */
	if (fin_received(socket.state) && socket.unread > 0)
		socket.unread--;
	else if (socket.unread == 0)
		socket.error_queue = Maybe::unknown;

	const size_t header = MNL_ALIGN(sizeof(message));
	if (payload.size() <= header)
		return out;
	const auto *attr = reinterpret_cast<const nlattr *>(payload.data() + header);
	int left = static_cast<int>(payload.size() - header);
	while (mnl_attr_ok(attr, left)) {
		switch (mnl_attr_get_type(attr)) {
		case INET_DIAG_SKMEMINFO:
			read_memory(attr, socket);
			break;
		case INET_DIAG_INFO:
			read_info(attr, socket);
			break;
		case INET_DIAG_ULP_INFO:
			read_ulp(attr, socket);
			break;
		default:
			break;
		}
		left -= static_cast<int>(MNL_ALIGN(attr->nla_len));
		attr = mnl_attr_next(attr);
	}
	if (socket.rmem == 0)
		socket.error_queue = Maybe::no;
	return out;
}

} // namespace rxstall
