// SPDX-License-Identifier: GPL-2.0
#include "sockdiag.h"

#include <cerrno>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <memory>
#include <netinet/in.h>
#include <vector>

namespace rxstall {

namespace {

struct MnlClose {
	void operator()(mnl_socket *nl) const { mnl_socket_close(nl); }
};

using Visit = std::function<void(const DiagSocket &)>;

int on_message(const nlmsghdr *header, void *data)
{
	const auto *payload = static_cast<const uint8_t *>(mnl_nlmsg_get_payload(header));
	auto socket = parse_diag({payload, mnl_nlmsg_get_payload_len(header)});
	if (socket)
		(*static_cast<const Visit *>(data))(*socket);
	return MNL_CB_OK;
}

/*
 * By the older request, TCPDIAG_GETSOCK, which means IPv4 and IPv6 (inet_diag_dump_compat()):
 * one walk through the kernel's table instead of two.
 */
Result<void> dump_all(mnl_socket *nl, uint32_t states, Detail detail, const Visit &visit)
{
	constexpr unsigned sequence = 1;
	/* larger than any answer the kernel packs into one datagram */
	std::vector<uint8_t> buffer(64 * 1024);

	nlmsghdr *header = mnl_nlmsg_put_header(buffer.data());
	header->nlmsg_type = TCPDIAG_GETSOCK;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	header->nlmsg_seq = sequence;
	auto *request = static_cast<inet_diag_req *>(
		mnl_nlmsg_put_extra_header(header, sizeof(inet_diag_req)));
	request->idiag_states = states;
	if (detail == Detail::memory)
		request->idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1) | 1 << (INET_DIAG_INFO - 1);
	if (mnl_socket_sendto(nl, header, header->nlmsg_len) < 0)
		return failure(errno, "sock_diag request");

	for (;;) {
		const ssize_t length = mnl_socket_recvfrom(nl, buffer.data(), buffer.size());
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return failure(errno, "sock_diag answer");
		const int status = mnl_cb_run(buffer.data(), static_cast<size_t>(length), sequence,
					      mnl_socket_get_portid(nl), on_message,
					      const_cast<Visit *>(&visit));
		if (status == MNL_CB_STOP)
			return {};
		if (status < 0)
			return failure(errno, "sock_diag dump");
	}
}

} // namespace

Result<void> dump_sockets(uint32_t states, Detail detail, const Visit &visit)
{
	std::unique_ptr<mnl_socket, MnlClose> nl(mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC));
	if (!nl || mnl_socket_bind(nl.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		return failure(errno, "sock_diag socket");

	return dump_all(nl.get(), states, detail, visit);
}

} // namespace rxstall
