// SPDX-License-Identifier: GPL-2.0
#include "destroy.h"

#include <arpa/inet.h>
#include <cerrno>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <memory>
#include <unordered_map>

#include "proc.h"
#include "proc_parse.h"

namespace rxstall {

namespace {

struct MnlClose {
	void operator()(mnl_socket *nl) const { mnl_socket_close(nl); }
};

/* The cookie makes sure that no later connection between the same ports is hit. */
inet_diag_sockid identity(const Socket &socket)
{
	const int family = socket.family == Family::ipv6 ? AF_INET6 : AF_INET;
	inet_diag_sockid id{};
	id.idiag_sport = htons(socket.local.port);
	id.idiag_dport = htons(socket.peer.port);
	inet_pton(family, socket.local.address.c_str(), id.idiag_src);
	inet_pton(family, socket.peer.address.c_str(), id.idiag_dst);
	id.idiag_cookie[0] = static_cast<uint32_t>(socket.cookie);
	id.idiag_cookie[1] = static_cast<uint32_t>(socket.cookie >> 32);
	return id;
}

} // namespace

Result<void> destroy_socket(const Socket &socket)
{
	std::unique_ptr<mnl_socket, MnlClose> nl(mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC));
	if (!nl || mnl_socket_bind(nl.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		return failure(errno, "sock_diag socket");

	std::vector<uint8_t> buffer(static_cast<size_t>(MNL_SOCKET_BUFFER_SIZE));
	nlmsghdr *header = mnl_nlmsg_put_header(buffer.data());
	header->nlmsg_type = SOCK_DESTROY;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	header->nlmsg_seq = 1;
	auto *request = static_cast<inet_diag_req_v2 *>(
		mnl_nlmsg_put_extra_header(header, sizeof(inet_diag_req_v2)));
	request->sdiag_family = socket.family == Family::ipv6 ? AF_INET6 : AF_INET;
	request->sdiag_protocol = IPPROTO_TCP;
	request->idiag_states = 1u << static_cast<unsigned>(socket.state);
	request->id = identity(socket);
	if (mnl_socket_sendto(nl.get(), header, header->nlmsg_len) < 0)
		return failure(errno, "SOCK_DESTROY");
	const ssize_t length = mnl_socket_recvfrom(nl.get(), buffer.data(), buffer.size());
	if (length < 0 || mnl_cb_run(buffer.data(), static_cast<size_t>(length), 1,
				     mnl_socket_get_portid(nl.get()), nullptr, nullptr) < 0)
		return failure(errno, errno == EOPNOTSUPP ? "SOCK_DESTROY: this kernel lacks CONFIG_INET_DIAG_DESTROY"
							  : "SOCK_DESTROY");
	return {};
}

void add_owners(std::vector<Socket> &sockets)
{
	std::unordered_map<uint64_t, Socket *> wanted;
	for (Socket &socket : sockets)
		if (socket.inode)
			wanted[socket.inode] = &socket;
	for (int pid : list_processes()) {
		std::optional<ProcessName> name;
		(void)each_descriptor(pid, [&](int fd, std::string_view link) {
			const auto inode = parse_socket_link(link);
			const auto found = inode ? wanted.find(*inode) : wanted.end();
			if (found == wanted.end())
				return;
			if (!name)
				name = name_process(pid);
			found->second->owners.push_back({Holder::process, pid, pid, fd, name->comm, name->unit});
		});
	}
}

} // namespace rxstall
