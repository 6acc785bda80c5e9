// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "lib/diag_parse.h"
#include "lib/klog_parse.h"
#include "lib/netdev_parse.h"
#include "lib/proc_parse.h"
#include "lib/trace_parse.h"

using namespace rxstall;

namespace {

using Bytes = std::vector<uint8_t>;

void append(Bytes &bytes, const void *data, size_t size)
{
	const auto *from = static_cast<const uint8_t *>(data);
	bytes.insert(bytes.end(), from, from + size);
	bytes.resize(MNL_ALIGN(bytes.size()));
}

void attribute(Bytes &bytes, uint16_t type, const void *data, size_t size)
{
	const nlattr head{static_cast<uint16_t>(sizeof(nlattr) + size), type};
	append(bytes, &head, sizeof(head));
	append(bytes, data, size);
}

template <class T>
void number(Bytes &bytes, uint16_t type, T value) { attribute(bytes, type, &value, sizeof(value)); }

Bytes diag(uint8_t state, uint32_t queue, uint32_t rmem)
{
	inet_diag_msg message{};
	message.idiag_family = AF_INET;
	message.idiag_state = state;
	message.id.idiag_sport = htons(51000);
	message.id.idiag_dport = htons(9092);
	message.id.idiag_dst[0] = htonl(0x0a000009);
	message.id.idiag_cookie[0] = 7;
	message.id.idiag_cookie[1] = 1;
	message.idiag_rqueue = queue;
	message.idiag_inode = 4711;
	Bytes bytes;
	append(bytes, &message, sizeof(message));
	const uint32_t memory[9] = {rmem};
	attribute(bytes, INET_DIAG_SKMEMINFO, memory, sizeof(memory));
	return bytes;
}

} // namespace

TEST(Diag, TheFinIsNoPayload)
{
	auto found = parse_diag(diag(8, 1, 832));
	ASSERT_TRUE(found);
	const Socket &socket = found->socket;
	EXPECT_EQ(socket.state, State::close_wait);
	EXPECT_EQ(socket.unread, 0u);
	EXPECT_EQ(socket.rmem, 832u);
	EXPECT_EQ(socket.inode, 4711u);
	EXPECT_EQ(socket.cookie, 0x100000007u);
	EXPECT_EQ(socket.local.port, 51000);
	EXPECT_EQ(socket.peer, (Endpoint{"10.0.0.9", 9092}));
	EXPECT_EQ(socket.error_queue, Maybe::no);

	EXPECT_EQ(parse_diag(diag(8, 108, 832))->socket.unread, 107u);
	EXPECT_EQ(parse_diag(diag(1, 108, 832))->socket.unread, 108u);
	/* the FIN was read, yet memory is held: an error queue perhaps */
	EXPECT_EQ(parse_diag(diag(8, 0, 832))->socket.error_queue, Maybe::unknown);
}

TEST(Diag, AListenersQueueIsConnections)
{
	auto found = parse_diag(diag(10, 3, 0));
	EXPECT_EQ(found->receive_queue, 3u);
	EXPECT_EQ(found->socket.unread, 0u);
}

TEST(Diag, TruncatedAnswersAreSafe)
{
	tcp_info info{};
	info.tcpi_last_ack_recv = 4242;
	Bytes whole = diag(8, 1, 832);
	attribute(whole, INET_DIAG_INFO, &info, sizeof(info));
	EXPECT_EQ(parse_diag(whole)->socket.age_ms, 4242u);
	for (size_t size = 0; size < whole.size(); size++) {
		const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
		const auto found = parse_diag(cut);
		EXPECT_EQ(found.has_value(), size >= sizeof(inet_diag_msg));
		EXPECT_LE(found ? found->socket.rmem : 0, 832u);
	}
}

TEST(Netdev, PoolWithShortAndLongNumbers)
{
	Bytes bytes;
	number<uint32_t>(bytes, 1, 4);
	number<uint32_t>(bytes, 2, 9);
	number<uint32_t>(bytes, 4, 21);
	number<uint64_t>(bytes, 5, 1ull << 40);
	number<uint32_t>(bytes, 6, 400);
	auto pool = parse_pool_answer(bytes);
	ASSERT_TRUE(pool);
	EXPECT_EQ(pool->id, 4u);
	EXPECT_EQ(pool->ifindex, 9u);
	EXPECT_EQ(pool->inflight, 21);
	EXPECT_EQ(pool->inflight_mem, 1ull << 40);
	EXPECT_EQ(pool->detached_at, 400u);
	for (size_t size = 0; size < bytes.size(); size++)
		(void)parse_pool_answer({bytes.data(), size});
}

TEST(Netdev, NegativeInFlightAndNoId)
{
	Bytes bytes;
	number<uint64_t>(bytes, 4, static_cast<uint64_t>(-1783494730LL));
	EXPECT_FALSE(parse_pool_answer(bytes));
	number<uint32_t>(bytes, 1, 4);
	EXPECT_EQ(parse_pool_answer(bytes)->inflight, -1783494730);
	EXPECT_FALSE(parse_pool_answer(bytes)->detached_at);
}

TEST(Klog, BothFormats)
{
	auto with = parse_stalled_line("page_pool_release_retry() stalled pool shutdown: id 4, 21 inflight 60 sec");
	ASSERT_TRUE(with);
	EXPECT_EQ(with->id, 4u);
	EXPECT_EQ(with->inflight, 21);
	EXPECT_EQ(with->stalled_s, 60u);

	auto without = parse_stalled_line("page_pool_release_retry() stalled pool shutdown 1 inflight 3020 sec");
	ASSERT_TRUE(without);
	EXPECT_FALSE(without->id);
	EXPECT_EQ(without->stalled_s, 3020u);

	EXPECT_EQ(parse_stalled_line("page_pool_release_retry() stalled pool shutdown -1783494730 inflight 60 sec")->inflight,
		  -1783494730);
	EXPECT_FALSE(parse_stalled_line("page_pool_release_retry() stalled pool shutdown 1 inflight -2147483 sec")->stalled_s);
	for (const char *wrong : {"", "page_pool_release_retry() stalled pool shutdown",
				  "page_pool_release_retry() stalled pool shutdown: id x, 1 inflight 60 sec",
				  "page_pool_release_retry() stalled pool shutdown 1 inflight 60 sec and more",
				  "page_pool_release_retry() stalled pool shutdown 99999999999999999999 inflight 60 sec"})
		EXPECT_FALSE(parse_stalled_line(wrong)) << wrong;
}

TEST(Klog, OnlyTheKernelsOwnRecords)
{
	const std::string text = ";page_pool_release_retry() stalled pool shutdown 1 inflight 60 sec\n SUBSYSTEM=x\n";
	auto report = parse_kmsg_record("4,339,5140900,-" + text);
	ASSERT_TRUE(report);
	EXPECT_DOUBLE_EQ(report->at, 5.1409);
	EXPECT_FALSE(parse_kmsg_record("12,339,5140900,-" + text)) << "facility user: any program can say that";
	EXPECT_FALSE(parse_kmsg_record("4,339" + text));
	EXPECT_FALSE(parse_kmsg_record(";"));
}

TEST(Trace, PoolEvents)
{
	auto plain = parse_pool_event("page_pool_release: page_pool=00000000abc inflight=21 hold=64 release=43 cnt=7", 99);
	ASSERT_TRUE(plain);
	EXPECT_EQ(plain->inflight, 21);
	EXPECT_EQ(plain->stalled_s, 7u);
	EXPECT_EQ(plain->address, "00000000abc");
	EXPECT_FALSE(plain->id);

	auto stalled = parse_pool_event("  page_pool_release_stalled: page_pool=0abc id=4 ifindex=0 inflight=-2 "
					"hold=1 release=3 secs=2592060", 99);
	ASSERT_TRUE(stalled);
	EXPECT_EQ(stalled->id, 4u);
	EXPECT_EQ(stalled->inflight, -2);
	EXPECT_EQ(stalled->stalled_s, 2592060u);

	for (const char *wrong : {"", "page_pool_release:", "page_pool_release: inflight=1",
				  "x: page_pool_release: page_pool=1 inflight=1",
				  "page_pool_release: page_pool=1 inflight=1x"})
		EXPECT_FALSE(parse_pool_event(wrong, 0)) << wrong;
}

TEST(Trace, StateEvents)
{
	const std::string line = "inet_sock_set_state: family=AF_INET protocol=IPPROTO_TCP sport=51000 dport=9092 "
				 "saddr=10.0.0.2 daddr=10.0.0.9 saddrv6=::ffff:10.0.0.2 daddrv6=::ffff:10.0.0.9 "
				 "oldstate=TCP_CLOSE_WAIT newstate=TCP_CLOSE";
	auto change = parse_state_event(line);
	ASSERT_TRUE(change);
	EXPECT_EQ(change->local, (Endpoint{"10.0.0.2", 51000}));
	EXPECT_EQ(change->from, State::close_wait);
	EXPECT_EQ(change->to, State::close);

	std::string other = line;
	other.replace(other.find("IPPROTO_TCP"), 11, "IPPROTO_SCTP");
	EXPECT_FALSE(parse_state_event(other));
	EXPECT_FALSE(parse_state_event("inet_sock_set_state: family=AF_INET protocol=IPPROTO_TCP sport=1"));
}

TEST(Proc, UnitsAndContainers)
{
	const std::string id(64, 'a');
	EXPECT_EQ(parse_cgroup("0::/system.slice/nginx.service\n"), "nginx.service");
	EXPECT_EQ(parse_cgroup("0::/system.slice/docker-" + id + ".scope\n"), "container:aaaaaaaaaaaa");
	EXPECT_EQ(parse_cgroup("12:cpu:/docker/" + id + "\n1:name=systemd:/x\n"), "container:aaaaaaaaaaaa");
	EXPECT_EQ(parse_cgroup("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope/app\n"),
		  "container:aaaaaaaaaaaa");
	EXPECT_EQ(parse_cgroup("0::/\n"), "");
	EXPECT_EQ(parse_cgroup("junk"), "");
}

TEST(Proc, Sockstat)
{
	const auto stat = parse_sockstat("sockets: used 12\nTCP: inuse 3 orphan 0 tw 1 alloc 7 mem 9\nUDP: inuse 5\n");
	EXPECT_EQ(stat.inuse, 3u);
	EXPECT_EQ(stat.alloc, 7u);
	EXPECT_EQ(stat.mem_pages, 9u);
	EXPECT_EQ(parse_sockstat("TCP6: inuse 4\n").inuse, 4u);
	EXPECT_EQ(parse_sockstat("TCP: inuse\nTCP:").inuse, 0u);
}

TEST(Proc, HiddenDescriptors)
{
	EXPECT_EQ(parse_scm_fds("pos:\t0\nflags:\t02\nscm_fds: 3\n"), 3u);
	EXPECT_EQ(parse_scm_fds("pos:\t0\n"), 0u);
	EXPECT_EQ(parse_uring_files("SqMask:\t0x7\nUserFiles:\t2\n    0: socket:[77]\n    1: /tmp/x\nUserBufs:\t1\n    0: socket:[88]\n").inodes,
		  std::vector<uint64_t>{77});
	EXPECT_EQ(parse_uring_files("UserFiles:\t3\n    0: TCP\n    1: <none>\n    2: UDP\n").unnamed, 1u);
	EXPECT_EQ(parse_socket_link("socket:[18]"), 18u);
	for (const char *wrong : {"socket:[]", "socket:[x]", "socket:[1", "pipe:[1]", ""})
		EXPECT_FALSE(parse_socket_link(wrong)) << wrong;
}

TEST(Proc, NamespaceMounts)
{
	EXPECT_EQ(parse_netns_mounts("26 1 0:4 net:[4026532] /run/netns/a\\040b rw shared:1 - nsfs nsfs rw\n"
				     "27 1 0:4 / /proc rw - proc proc rw\n"),
		  std::vector<std::string>{"/run/netns/a b"});
}
