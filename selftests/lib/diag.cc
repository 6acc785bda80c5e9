// SPDX-License-Identifier: GPL-2.0
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "checked.h"
#include "facts.h"
#include "unique_fd.h"

namespace selftest {

namespace {

struct Request {
	nlmsghdr header;
	inet_diag_req_v2 body;
};

void copy_ip(__be32 (&to)[4], const Address &address)
{
	if (address.storage.ss_family == AF_INET)
		std::memcpy(to,
			    &reinterpret_cast<const sockaddr_in *>(address.get())
				     ->sin_addr,
			    sizeof(in_addr));
	else
		std::memcpy(to,
			    &reinterpret_cast<const sockaddr_in6 *>(
				     address.get())
				     ->sin6_addr,
			    sizeof(in6_addr));
}

Request request_for(Family family, const Address &local, const Address &remote)
{
	Request request{};

	request.header.nlmsg_len = sizeof(request);
	request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	request.header.nlmsg_flags = NLM_F_REQUEST;
	request.body.sdiag_family = static_cast<__u8>(domain_of(family));
	request.body.sdiag_protocol = IPPROTO_TCP;
	request.body.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	request.body.idiag_states = ~0U;
	request.body.id.idiag_sport = htons(local.port());
	request.body.id.idiag_dport = htons(remote.port());
	request.body.id.idiag_cookie[0] = ~0U; /* INET_DIAG_NOCOOKIE */
	request.body.id.idiag_cookie[1] = ~0U;
	copy_ip(request.body.id.idiag_src, local);
	copy_ip(request.body.id.idiag_dst, remote);
	return request;
}

std::uint32_t rmem_in(const inet_diag_msg *message, std::size_t length)
{
	const auto *attribute = reinterpret_cast<const rtattr *>(message + 1);
	auto left = static_cast<int>(length - sizeof(*message));

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == INET_DIAG_SKMEMINFO)
			return static_cast<const std::uint32_t *>(
				RTA_DATA(attribute))[SK_MEMINFO_RMEM_ALLOC];
	return 0;
}

} // namespace

std::optional<DiagFacts> diag_lookup(Family family, const Address &local,
				     const Address &remote)
{
	const unique_fd fd(check(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
					  NETLINK_SOCK_DIAG),
				 "socket(NETLINK_SOCK_DIAG)"));
	const Request request = request_for(family, local, remote);
	alignas(nlmsghdr) std::array<char, 4096> answer;

	check(::send(fd.get(), &request, sizeof(request), 0),
	      "send to sock_diag");
	const ssize_t n = check(::recv(fd.get(), answer.data(), answer.size(), 0),
				"recv from sock_diag");
	const auto *header = reinterpret_cast<const nlmsghdr *>(answer.data());

	if (!NLMSG_OK(header, n))
		fail(EBADMSG, "sock_diag");
	if (header->nlmsg_type == NLMSG_ERROR) {
		const auto *error =
			static_cast<const nlmsgerr *>(NLMSG_DATA(header));

		if (error->error == -ENOENT)
			return std::nullopt;
		fail(-error->error, "sock_diag");
	}
	const auto *message =
		static_cast<const inet_diag_msg *>(NLMSG_DATA(header));

	/* For want of the connection, the kernel shows its listener. */
	if (message->id.idiag_dport != request.body.id.idiag_dport)
		return std::nullopt;
	return DiagFacts{message->idiag_state, message->idiag_rqueue,
			 message->idiag_wqueue,
			 rmem_in(message, header->nlmsg_len - NLMSG_HDRLEN)};
}

} // namespace selftest
