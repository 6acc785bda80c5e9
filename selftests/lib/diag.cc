// SPDX-License-Identifier: GPL-2.0
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>

#include <cstring>
#include <system_error>

#include "facts.h"
#include "netlink.h"

namespace selftest {

namespace {

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

void fill(inet_diag_req_v2 &body, Family family, const Address &local,
	  const Address &remote)
{
	body.sdiag_family = static_cast<__u8>(domain_of(family));
	body.sdiag_protocol = IPPROTO_TCP;
	body.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
	body.idiag_states = ~0U;
	body.id.idiag_sport = htons(local.port());
	body.id.idiag_dport = htons(remote.port());
	body.id.idiag_cookie[0] = ~0U; /* INET_DIAG_NOCOOKIE */
	body.id.idiag_cookie[1] = ~0U;
	copy_ip(body.id.idiag_src, local);
	copy_ip(body.id.idiag_dst, remote);
}

std::uint32_t rmem_in(const nlmsghdr *answer)
{
	/* mnl_attr_for_each() is not C++. */
	const auto *attribute = static_cast<const nlattr *>(
		mnl_nlmsg_get_payload_offset(answer, sizeof(inet_diag_msg)));
	const auto *end =
		static_cast<const char *>(mnl_nlmsg_get_payload_tail(answer));

	for (; mnl_attr_ok(attribute,
			   static_cast<int>(end - reinterpret_cast<const char *>(
							  attribute)));
	     attribute = mnl_attr_next(attribute))
		if (mnl_attr_get_type(attribute) == INET_DIAG_SKMEMINFO)
			return static_cast<const std::uint32_t *>(
				mnl_attr_get_payload(
					attribute))[SK_MEMINFO_RMEM_ALLOC];
	return 0;
}

} // namespace

std::optional<DiagFacts> diag_lookup(Family family, const Address &local,
				     const Address &remote)
try {
	NetlinkRequest request(SOCK_DIAG_BY_FAMILY);

	fill(request.put<inet_diag_req_v2>(), family, local, remote);

	const nlmsghdr *answer = request.send(NETLINK_SOCK_DIAG, "sock_diag");
	const auto *message = static_cast<const inet_diag_msg *>(
		mnl_nlmsg_get_payload(answer));

	/* For want of the connection, the kernel shows its listener. */
	if (message->id.idiag_dport != htons(remote.port()))
		return std::nullopt;
	return DiagFacts{message->idiag_state, message->idiag_rqueue,
			 message->idiag_wqueue, rmem_in(answer)};
} catch (const std::system_error &error) {
	if (error.code().value() == ENOENT)
		return std::nullopt;
	throw;
}

} // namespace selftest
