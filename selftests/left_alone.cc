// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets whose queue somebody else looks at or accounts for: kTLS, sockmap and
 * TCP_REPAIR. With every value of the sysctl they keep what they hold.
 * MPTCP has a program of its own.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/tls.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/loopback.h"
#include "lib/scenario.h"

namespace {

using namespace selftest;

constexpr std::size_t payload = 20;

/** Descriptors that have to stay open as long as the test runs. */
using Kept = std::vector<unique_fd>;

/* A key for both ends; nothing is secret here. */
tls12_crypto_info_aes_gcm_128 key_for(std::uint16_t version)
{
	tls12_crypto_info_aes_gcm_128 key{};

	key.info.version = version;
	key.info.cipher_type = TLS_CIPHER_AES_GCM_128;
	std::memset(key.key, 0x2a, sizeof(key.key));
	std::memset(key.salt, 0x17, sizeof(key.salt));
	return key;
}

void use_tls(const TcpSocket &socket, int direction, std::uint16_t version)
{
	const auto key = key_for(version);

	if (::setsockopt(socket.fd(), IPPROTO_TCP, TCP_ULP, "tls",
			 sizeof("tls")))
		throw Skip("this kernel has no kTLS: " + errno_name(errno));
	if (::setsockopt(socket.fd(), SOL_TLS, direction, &key, sizeof(key)))
		fail(errno, "setting a kTLS key");
}

/** A record with @payload bytes of pattern(), as it is on the wire. */
std::string tls_record(std::uint16_t version)
{
	const LoopbackPair pair = loopback_pair();
	const std::string text = pattern(0, payload);
	std::string record(4096, '\0');

	use_tls(pair.peer, TLS_TX, version);
	check(::send(pair.peer.fd(), text.data(), text.size(), 0), "send");

	pollfd waiting{pair.app.fd(), POLLIN, 0};

	check(::poll(&waiting, 1, 5000), "poll");
	record.resize(static_cast<std::size_t>(
		check(::recv(pair.app.fd(), record.data(), record.size(),
			     MSG_DONTWAIT), "recv of the record")));
	return record;
}

template <std::uint16_t version> Kept tls_reader(const TcpSocket &app)
{
	use_tls(app, TLS_RX, version);
	return {};
}

template <std::uint16_t version> std::string whole_record()
{
	return tls_record(version);
}

/* The next record cannot be told from the first: it is never decrypted. */
template <std::uint16_t version> std::string record_and_a_half()
{
	const std::string record = tls_record(version);

	return record + record.substr(0, record.size() / 2);
}

template <std::uint16_t version> std::string half_a_record()
{
	const std::string record = tls_record(version);

	return record.substr(0, record.size() / 2);
}

std::string plain()
{
	return pattern(0, payload);
}

unique_fd bpf_descriptor(int fd, const char *what)
{
	if (fd == -EPERM)
		throw Skip(std::string(what) + " needs CAP_BPF");
	if (fd < 0)
		fail(-fd, what);
	return unique_fd(fd);
}

unique_fd sockmap()
{
	return bpf_descriptor(bpf_map_create(BPF_MAP_TYPE_SOCKMAP, "sockets", 4,
					     4, 1, nullptr),
			      "BPF_MAP_CREATE sockmap");
}

void put_into(const unique_fd &map, const TcpSocket &app)
{
	const int key = 0, value = app.fd();
	const int error = bpf_map_update_elem(map.get(), &key, &value, BPF_ANY);

	if (error)
		fail(-error, "putting the socket into the sockmap");
}

/** Attaches a program of two instructions, the first sets the result. */
unique_fd attach(const unique_fd &map, bpf_attach_type where, bpf_insn result)
{
	const bpf_insn program[] = {result,
				    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = where);
	unique_fd fd = bpf_descriptor(
		bpf_prog_load(BPF_PROG_TYPE_SK_SKB, "program", "GPL", program, 2,
			      &options),
		"BPF_PROG_LOAD sk_skb");
	const int error = bpf_prog_attach(fd.get(), map.get(), where, 0);

	if (error)
		fail(-error, "attaching a program to the sockmap");
	return fd;
}

/* r0 = SK_PASS */
constexpr bpf_insn pass{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, SK_PASS};
/* r0 = skb->len: all of it is one message */
constexpr bpf_insn whole{BPF_LDX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_1,
			 offsetof(__sk_buff, len), 0};

/** No program: the queue stays TCP's, but recv() is sockmap's. */
Kept sockmap_alone(const TcpSocket &app)
{
	Kept kept;

	kept.push_back(sockmap());
	put_into(kept.front(), app);
	return kept;
}

/** A verdict: what arrives goes to the ingress queue of the psock. */
Kept sockmap_verdict(const TcpSocket &app)
{
	Kept kept;

	kept.push_back(sockmap());
	kept.push_back(attach(kept.front(), BPF_SK_SKB_VERDICT, pass));
	put_into(kept.front(), app);
	return kept;
}

Kept sockmap_parser(const TcpSocket &app)
{
	Kept kept;

	kept.push_back(sockmap());
	kept.push_back(attach(kept.front(), BPF_SK_SKB_STREAM_PARSER, whole));
	kept.push_back(attach(kept.front(), BPF_SK_SKB_STREAM_VERDICT, pass));
	put_into(kept.front(), app);
	return kept;
}

Kept nothing(const TcpSocket &)
{
	return {};
}

void repair_on(TcpSocket &app)
{
	const int on = TCP_REPAIR_ON;

	if (::setsockopt(app.fd(), IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)))
		throw Skip("no TCP_REPAIR here: " + errno_name(errno));
}

/* In repair the queue can be looked at, which is what it is for. */
std::string reads_in_repair(TcpSocket &app)
{
	app.set(IPPROTO_TCP, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE);

	const std::string peeked =
		to_string(app.recv(100, MSG_PEEK | MSG_DONTWAIT));

	app.set(IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF);
	return peeked + " then " + two_reads(app);
}

/** A kind of socket, and what it reads whatever the value. */
struct Kind {
	const char *name;
	Kept (*attach)(const TcpSocket &app);
	std::string (*payload)();
	void (*before_rst)(TcpSocket &app);
	std::string (*reads)(TcpSocket &app);
	const char *unread;
	const char *fin_only;
};

template <std::uint16_t version>
constexpr Kind tls(const char *name, std::string (*payload)(),
		   const char *unread)
{
	return {name,	   tls_reader<version>, payload,
		nullptr,   two_reads,		unread,
		"EPIPE 0"};
}

const Kind kinds[] = {
	tls<TLS_1_2_VERSION>("tls_1.2/record", whole_record<TLS_1_2_VERSION>,
			     "20 EPIPE"),
	tls<TLS_1_2_VERSION>("tls_1.2/record_and_a_half",
			     record_and_a_half<TLS_1_2_VERSION>, "20 EPIPE"),
	tls<TLS_1_2_VERSION>("tls_1.2/half_a_record",
			     half_a_record<TLS_1_2_VERSION>, "EPIPE 0"),
	tls<TLS_1_3_VERSION>("tls_1.3/record", whole_record<TLS_1_3_VERSION>,
			     "20 EPIPE"),
	tls<TLS_1_3_VERSION>("tls_1.3/record_and_a_half",
			     record_and_a_half<TLS_1_3_VERSION>, "20 EPIPE"),
	{"sockmap/no_program", sockmap_alone, plain, nullptr, two_reads, "20 0",
	 "0 0"},
	{"sockmap/verdict", sockmap_verdict, plain, nullptr, two_reads, "20 0",
	 "0 0"},
	{"sockmap/parser_and_verdict", sockmap_parser, plain, nullptr, two_reads,
	 "20 0", "0 0"},
	{"repair", nothing, plain, repair_on, reads_in_repair, "20 then 20 0",
	 "0 then 0 0"},
};

void keeps_its_queue(const Kind &kind, Purge value, bool unread)
{
	Wire wire;

	set_purge(value);
	auto [app, peer] = wire.connect(Family::v4);
	const Kept kept = kind.attach(app);

	if (unread)
		peer->send(data(kind.payload()));
	peer->send(fin());
	if (kind.before_rst)
		kind.before_rst(app);
	expect_eq(state_name(app.facts().state), "CLOSE_WAIT", "the state");

	const Counters before = Counters::read();
	const auto held = app.facts().rmem;

	peer->send(rst());
	expect_eq(state_name(app.facts().state), "CLOSE", "the state");
	expect_eq(app.facts().rmem, held, "what is held");
	expect_counted(before, 0, 0);
	expect_eq(kind.reads(app), unread ? kind.unread : kind.fin_only, "recv");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Kind &kind : kinds)
		for (const Purge value : purge_values)
			for (const bool unread : {false, true})
				tests.push_back(
					{std::string(kind.name) + '/' +
						 to_string(value) +
						 (unread ? "/unread" : "/fin_only"),
					 Needs::purge_sysctl,
					 [&kind, value, unread] {
						 keeps_its_queue(kind, value,
								 unread);
					 },
					 true});
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
