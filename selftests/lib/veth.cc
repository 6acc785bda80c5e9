// SPDX-License-Identifier: GPL-2.0
#include "veth.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "btf.h"
#include "checked.h"
#include "facts.h"
#include "interface.h"
#include "ktap.h"
#include "netlink.h"
#include "sysctl.h"
#include "tcp_socket.h"

namespace selftest {

namespace {

const char *const receiver_name = "rx0";
const char *const receiver_address = "192.0.2.1";
const char *const peers_address = "192.0.2.2";
const char *const netmask = "255.255.255.252";

/** One queue an end, so that the receiver has one pool. */
void put_one_queue(nlmsghdr *header)
{
	mnl_attr_put_u32(header, IFLA_NUM_RX_QUEUES, 1);
	mnl_attr_put_u32(header, IFLA_NUM_TX_QUEUES, 1);
}

/** Makes the pair from inside the receiver's namespace. */
void make_pair(const Netns &peer)
{
	NetlinkRequest request(RTM_NEWLINK,
			       NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	nlmsghdr *header = request.header();

	request.put<ifinfomsg>();
	mnl_attr_put_strz(header, IFLA_IFNAME, receiver_name);
	put_one_queue(header);

	nlattr *info = mnl_attr_nest_start(header, IFLA_LINKINFO);

	mnl_attr_put_strz(header, IFLA_INFO_KIND, "veth");

	nlattr *data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
	nlattr *other = mnl_attr_nest_start(header, VETH_INFO_PEER);

	mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg));
	mnl_attr_put_strz(header, IFLA_IFNAME, VethLink::peer_name);
	mnl_attr_put_u32(header, IFLA_NET_NS_FD,
			 static_cast<std::uint32_t>(peer.fd()));
	put_one_queue(header);
	mnl_attr_nest_end(header, other);
	mnl_attr_nest_end(header, data);
	mnl_attr_nest_end(header, info);
	request.send(NETLINK_ROUTE, "RTM_NEWLINK veth");
}

unique_fd load_xdp_pass()
{
	/* r0 = XDP_PASS; exit */
	const bpf_insn program[] = {
		{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};

	return unique_fd(check(bpf_prog_load(BPF_PROG_TYPE_XDP, "pass", "GPL",
					     program, 2, nullptr),
			       "bpf(BPF_PROG_LOAD)"));
}

/**
 * The other end answers, but a machine that emulates a kernel with KASAN may take
 * longer than the three seconds after which there is "no route to host".
 */
void ask_for_a_minute(const char *device)
{
	const int error = sysctl_write("net.ipv4.neigh." + std::string(device) +
					       ".mcast_solicit", "60");

	if (error)
		fail(error, "mcast_solicit");
}

/** What gives a device a pool where veth has none: see vm/pp_rx.c. */
unique_fd open_pp_rx()
{
	const char *const path = "/dev/pp_rx";
	unique_fd fd(::open(path, O_WRONLY | O_CLOEXEC));

	if (!fd)
		throw Skip("this kernel's veth has no page_pool, and " +
			   std::string(path) + " (vm/pp_rx.c) cannot be opened: " +
			   errno_name(errno));
	return fd;
}

} // namespace

VethLink::VethLink(const Netns &peer, const Netns &receiver)
	: receiver_(receiver)
{
	{
		const auto inside = receiver.enter();

		make_pair(peer);
		interface_address(receiver_name, receiver_address, netmask);
		interface_up(receiver_name, true);
		ask_for_a_minute(receiver_name);
		ifindex_ = static_cast<int>(::if_nametoindex(receiver_name));
		attach_pool();
	}
	const auto inside = peer.enter();

	interface_address(peer_name, peers_address, netmask);
	interface_up(peer_name, true);
	ask_for_a_minute(peer_name);
}

void VethLink::attach_pool()
{
	/* A kernel that does not tell is taken to have one. */
	module_ = !struct_has("veth_rq", "page_pool", "veth").value_or(true);
	if (module_) {
		pool_ = open_pp_rx();
		check(::write(pool_.get(), receiver_name,
			      std::strlen(receiver_name)), "/dev/pp_rx");
		return;
	}
	pool_ = load_xdp_pass();

	const int error = bpf_xdp_attach(ifindex_, pool_.get(),
					 XDP_FLAGS_DRV_MODE, nullptr);

	if (error)
		fail(-error, "attaching XDP to veth");
}

void VethLink::remove()
{
	const auto inside = receiver_.enter();
	NetlinkRequest request(RTM_DELLINK, NLM_F_ACK);

	request.put<ifinfomsg>().ifi_index = ifindex_;
	request.send(NETLINK_ROUTE, "RTM_DELLINK veth");
}

void VethLink::detach_pool()
{
	if (module_) {
		pool_.reset();
		return;
	}

	const auto inside = receiver_.enter();
	const int error = bpf_xdp_detach(ifindex_, XDP_FLAGS_DRV_MODE, nullptr);

	if (error)
		fail(-error, "detaching XDP from veth");
}

Address VethLink::peer_address(std::uint16_t port) const
{
	Address address;
	auto *in = reinterpret_cast<sockaddr_in *>(&address.storage);

	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	::inet_pton(AF_INET, peers_address, &in->sin_addr);
	address.length = sizeof(*in);
	return address;
}

unique_fd abandoned_connection(const VethLink &link, const Netns &peer,
			       const Netns &receiver, const Farewell &farewell)
{
	const auto make_socket = [](const Netns &where) {
		const auto inside = where.enter();

		return unique_fd(check(::socket(AF_INET,
						SOCK_STREAM | SOCK_CLOEXEC, 0),
				       "socket"));
	};
	const unique_fd listener = make_socket(peer);
	unique_fd ours = make_socket(receiver);

	check(::listen(listener.get(), 1), "listen");

	const Address to =
		link.peer_address(local_address(listener.get()).port());

	check(::connect(ours.get(), to.get(), to.length), "connect over veth");

	unique_fd theirs(check(::accept4(listener.get(), nullptr, nullptr,
					 SOCK_CLOEXEC), "accept"));
	const std::string payload(farewell.bytes, 'x');

	check(::send(theirs.get(), payload.data(), payload.size(), 0), "send");
	check(::shutdown(theirs.get(), SHUT_WR), "shutdown");
	wait_for_state(ours.get(), CLOSE_WAIT);
	if (!farewell.reset)
		return ours;

	const linger now{1, 0};

	check(::setsockopt(theirs.get(), SOL_SOCKET, SO_LINGER, &now,
			   sizeof(now)), "SO_LINGER");
	theirs.reset();
	wait_for_state(ours.get(), CLOSE);
	return ours;
}

} // namespace selftest
