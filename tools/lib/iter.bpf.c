// SPDX-License-Identifier: GPL-2.0
/*
 * Iterates over every descriptor of every process and writes a record for
 * each TCP socket in a wanted state that holds receive memory. It only
 * reads: no reference is taken, no lock, no error is consumed.
 *
 * The structures below name just the members that are read; libbpf places
 * them by the running kernel's BTF (preserve_access_index).
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "iter_record.h"

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define SOCK_DONE 1	/* include/net/sock.h, enum sock_flags: SOCK_DEAD, SOCK_DONE */
#define TCP_CLOSE 7
#define QUEUE_LIMIT 64	/* segments looked at for page-pool memory */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct { int counter; } atomic_t;
typedef struct { long long counter; } atomic64_t;

struct ns_common { unsigned int inum; };
struct net { struct ns_common ns; };
typedef struct { struct net *net; } possible_net_t;

struct in6_addr { union { __u8 u6_addr8[16]; } in6_u; };

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
	unsigned long skc_flags;
	int skc_incoming_cpu;
};

struct sk_buff {
	struct sk_buff *next;
	unsigned char pp_recycle:1;
};

struct sk_buff_head {
	struct sk_buff *next;
	__u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_error_queue;
	struct sk_buff_head sk_receive_queue;
	struct { atomic_t rmem_alloc; } sk_backlog;
	__u16 sk_protocol;
	int sk_err;
};

struct tcp_ulp_ops { char name[16]; };
struct inet_sock { struct sock sk; __be16 inet_sport; };
struct inet_connection_sock { struct inet_sock icsk_inet; const struct tcp_ulp_ops *icsk_ulp_ops; };
struct rb_node;
struct rb_root { struct rb_node *rb_node; };

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 rcv_nxt;
	__u32 copied_seq;
	__u32 rcv_tstamp;
	struct rb_root out_of_order_queue;
};

struct inode { unsigned long i_ino; };
struct file { struct inode *f_inode; };
struct socket { struct sock *sk; };

struct task_struct {
	int pid;
	int tgid;
	struct task_struct *group_leader;
	char comm[16];
};

struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

const volatile __u32 wanted_states;	/* mask of 1 << state, set by the reader */
const volatile __u32 listeners;		/* also report sockets in LISTEN */

static void read_names(struct iter_record *out, struct sock *sk, struct tcp_sock *tp)
{
	struct sock_common *skc = &sk->__sk_common;

	out->family = skc->skc_family;
	/* skc_num is 0 once the socket has left the hash tables */
	out->sport = bpf_ntohs(tp->inet_conn.icsk_inet.inet_sport);
	out->dport = bpf_ntohs(skc->skc_dport);
	if (out->family == AF_INET6) {
		BPF_CORE_READ_INTO(&out->saddr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&out->daddr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else {
		*(__be32 *)out->saddr = skc->skc_rcv_saddr;
		*(__be32 *)out->daddr = skc->skc_daddr;
	}
}

/* As tcp_inq() counts (include/net/tcp.h), the urgent mark aside. */
static __u32 unread_of(struct sock *sk, struct tcp_sock *tp)
{
	__u32 bytes = tp->rcv_nxt - tp->copied_seq;

	if (bytes && sk->__sk_common.skc_flags & (1UL << SOCK_DONE))
		bytes--;	/* the FIN has a sequence number */
	return bytes;
}

static __u8 in_pool_memory(struct sock *sk)
{
	struct sk_buff *end = (struct sk_buff *)&sk->sk_receive_queue;
	struct sk_buff *skb = sk->sk_receive_queue.next;

	for (int i = 0; i < QUEUE_LIMIT && skb && skb != end; i++) {
		if (BPF_CORE_READ_BITFIELD_PROBED(skb, pp_recycle))
			return 1;
		skb = BPF_CORE_READ(skb, next);
	}
	return 0;
}

SEC("iter/task_file")
int tcp_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct iter_record out = {};
	struct file *file = ctx->file;
	const struct tcp_ulp_ops *ulp;
	struct socket *socket;
	struct tcp_sock *tp;
	struct sock *sk;

	if (!task || !file)
		return 0;
	socket = bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = socket->sk;
	if (!sk)
		return 0;

	out.family = sk->__sk_common.skc_family;
	if (out.family != AF_INET && out.family != AF_INET6)
		return 0;
	out.mptcp = sk->sk_protocol == IPPROTO_MPTCP;
	if (sk->sk_protocol != IPPROTO_TCP && !out.mptcp)
		return 0;

	out.inode = file->f_inode->i_ino;
	out.state = sk->__sk_common.skc_state;
	out.rmem = sk->sk_backlog.rmem_alloc.counter;
	out.brief = out.mptcp || (out.state == TCP_CLOSE && !out.rmem);
	if (!out.brief && !(out.state == 10 && listeners) &&
	    !(out.rmem && wanted_states >> (out.state & 31) & 1))
		return 0;
	if (out.brief)
		goto write;

	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	read_names(&out, sk, tp);
	out.cookie = sk->__sk_common.skc_cookie.counter;
	out.netns = sk->__sk_common.skc_net.net->ns.inum;
	out.cpu = sk->__sk_common.skc_incoming_cpu;
	out.error = sk->sk_err;
	out.pid = task->tgid;
	out.tid = task->pid;
	out.fd = ctx->fd;
	out.unread = unread_of(sk, tp);
	out.age_jiffies = (__u32)bpf_jiffies64() - tp->rcv_tstamp;
	out.out_of_order = tp->out_of_order_queue.rb_node != 0;
	out.error_queue = sk->sk_error_queue.qlen != 0;
	out.pool_pages = in_pool_memory(sk);
	ulp = tp->inet_conn.icsk_ulp_ops;
	if (ulp)
		bpf_probe_read_kernel_str(out.ulp, sizeof(out.ulp), ulp->name);
	bpf_probe_read_kernel_str(out.comm, sizeof(out.comm), task->group_leader->comm);
write:
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
