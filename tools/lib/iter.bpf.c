// SPDX-License-Identifier: GPL-2.0
/*
 * Iterates over every descriptor of every process and writes a record for
 * each TCP socket in a wanted state that holds receive memory: those behind
 * descriptors, those in accept queues, and those in flight on unix sockets. It only
 * reads: no reference is taken, no lock, no error is consumed.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "iter_record.h"
#include "kernel.bpf.h"
#include "pages.bpf.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define SOCK_DONE 1	/* include/net/sock.h, enum sock_flags: SOCK_DEAD, SOCK_DONE */
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define SK_USER_DATA_PSOCK 4	/* include/net/sock.h: the socket is in a sockmap */
#define CHILD_LIMIT 65536	/* of an accept queue; somaxconn has 16 bits */
#define MESSAGE_LIMIT 1024	/* of a unix socket's queue */
#define SCM_LIMIT 253		/* include/net/scm.h: SCM_MAX_FD */

const volatile __u32 wanted_states;	/* mask of 1 << state, set by the reader */
const volatile __u32 listeners;		/* also report sockets in LISTEN */

static void read_names(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;

	out.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	/* skc_num is 0 once the socket has left the hash tables */
	out.sport = bpf_ntohs(BPF_CORE_READ(tp, inet_conn.icsk_inet.inet_sport));
	out.dport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (out.family == AF_INET6) {
		BPF_CORE_READ_INTO(&out.saddr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&out.daddr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else {
		*(__be32 *)out.saddr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		*(__be32 *)out.daddr = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	}
}

/* As tcp_inq() counts (include/net/tcp.h), the urgent mark aside. */
static __u32 unread_of(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 bytes = BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq);

	if (bytes && BPF_CORE_READ(sk, __sk_common.skc_flags) & (1UL << SOCK_DONE))
		bytes--;	/* the FIN has a sequence number */
	return bytes;
}

/* True if sk is a TCP socket; sets what every record has. */
static int begin_record(struct sock *sk, __u64 inode)
{
	__u16 protocol = BPF_CORE_READ(sk, sk_protocol);

	__builtin_memset(&out, 0, sizeof(out));
	out.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (out.family != AF_INET && out.family != AF_INET6)
		return 0;
	out.mptcp = protocol == IPPROTO_MPTCP;
	if ((protocol != IPPROTO_TCP && !out.mptcp) || BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
		return 0;
	out.inode = inode;
	out.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	out.rmem = BPF_CORE_READ(sk, sk_backlog.rmem_alloc.counter);
	out.brief = out.mptcp || (out.state == TCP_CLOSE && !out.rmem);
	return 1;
}

static int is_wanted(void)
{
	return out.brief || (out.state == TCP_LISTEN && listeners) ||
	       (out.rmem && wanted_states >> (out.state & 31) & 1);
}

static void end_record(struct bpf_iter__task_file *ctx, struct sock *sk, enum iter_holder holder)
{
	struct task_struct *task = ctx->task;
	struct tcp_sock *tp = (void *)sk;
	const struct tcp_ulp_ops *ulp;

	if (!task)
		return;		/* as the verifier does not know in here */
	out.holder = holder;
	if (out.brief)
		goto write;

	read_names(sk);
	out.cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	out.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	out.cpu = BPF_CORE_READ(sk, __sk_common.skc_incoming_cpu);
	out.error = BPF_CORE_READ(sk, sk_err);
	out.pid = task->tgid;
	out.tid = task->pid;
	out.fd = ctx->fd;
	bpf_probe_read_kernel_str(out.comm, sizeof(out.comm), task->group_leader->comm);
	if (out.state == TCP_LISTEN)
		goto write;

	out.unread = unread_of(sk);
	out.age_jiffies = (__u32)bpf_jiffies64() - BPF_CORE_READ(tp, rcv_tstamp);
	out.out_of_order = BPF_CORE_READ(tp, out_of_order_queue.rb_node) != 0;
	out.error_queue = BPF_CORE_READ(sk, sk_error_queue.qlen) != 0;
	count_pages((__u64)sk);
	for (int i = 0; i < ITER_POOLS && out.pools[i].pool; i++)
		note_pool(out.pools[i].pool);
	ulp = BPF_CORE_READ(tp, inet_conn.icsk_ulp_ops);
	if (ulp)
		bpf_probe_read_kernel_str(out.ulp, sizeof(out.ulp), ulp->name);
	else if ((__u64)BPF_CORE_READ(sk, sk_user_data) & SK_USER_DATA_PSOCK)
		__builtin_memcpy(out.ulp, "sockmap", sizeof("sockmap"));
write:
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
}

struct visit {
	struct bpf_iter__task_file *ctx;
	struct request_sock *request;
	struct sk_buff *skb;
	struct sk_buff *end;
	struct scm_fp_list *list;
	const struct file_operations *socket_ops;
};

static long visit_child(__u32 index, void *data)
{
	struct visit *visit = data;
	struct request_sock *request = visit->request;
	struct sock *sk;

	if (!request)
		return 1;
	sk = BPF_CORE_READ(request, sk);
	if (sk && begin_record(sk, 0) && !out.brief && is_wanted())
		end_record(visit->ctx, sk, ITER_UNACCEPTED);
	visit->request = BPF_CORE_READ(request, dl_next);
	return 0;
}

static long visit_passed(__u32 index, void *data)
{
	struct visit *visit = data;
	struct scm_fp_list *list = visit->list;
	struct socket *socket;
	struct file *file;
	struct sock *sk;

	if ((short)index >= BPF_CORE_READ(list, count))
		return 1;
	bpf_probe_read_kernel(&file, sizeof(file), (void *)list + index * sizeof(file) +
			      bpf_core_field_offset(struct scm_fp_list, fp));
	if (BPF_CORE_READ(file, f_op) != visit->socket_ops)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	if (sk && begin_record(sk, BPF_CORE_READ(file, f_inode, i_ino)) && is_wanted())
		end_record(visit->ctx, sk, ITER_IN_FLIGHT);
	return 0;
}

static long visit_message(__u32 index, void *data)
{
	struct visit *visit = data;
	struct sk_buff *skb = visit->skb;
	struct unix_skb_parms *parms;

	if (!skb || skb == visit->end)
		return 1;
	parms = (void *)skb + bpf_core_field_offset(struct sk_buff, cb);
	visit->list = BPF_CORE_READ(parms, fp);
	if (visit->list)
		bpf_loop(SCM_LIMIT, visit_passed, visit, 0);
	visit->skb = BPF_CORE_READ(skb, next);
	return 0;
}

SEC("iter/task_file")
int tcp_files(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct visit visit = {.ctx = ctx};
	struct socket *socket;
	struct sock *sk;
	__u16 family;

	if (!ctx->task || !file)
		return 0;
	socket = bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = socket->sk;
	if (!sk)
		return 0;

	/* most sockets end here: plain reads, which cost least */
	family = sk->__sk_common.skc_family;
	if (family == AF_UNIX && sk->sk_receive_queue.qlen) {
		visit.skb = sk->sk_receive_queue.next;
		visit.end = (void *)sk + bpf_core_field_offset(struct sock, sk_receive_queue);
		visit.socket_ops = file->f_op;
		bpf_loop(MESSAGE_LIMIT, visit_message, &visit, 0);
		return 0;
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if (sk->__sk_common.skc_state != TCP_CLOSE && sk->__sk_common.skc_state != TCP_LISTEN &&
	    sk->sk_protocol == IPPROTO_TCP && !sk->sk_backlog.rmem_alloc.counter)
		return 0;

	/* from here on as a number, which functions verified on their own take */
	sk = BPF_CORE_READ(socket, sk);
	if (!begin_record(sk, file->f_inode->i_ino))
		return 0;
	if (is_wanted())
		end_record(ctx, sk, ITER_DESCRIPTOR);
	if (out.state == TCP_LISTEN && !out.mptcp) {
		visit.request = BPF_CORE_READ((struct tcp_sock *)sk,
					      inet_conn.icsk_accept_queue.rskq_accept_head);
		if (visit.request)
			bpf_loop(CHILD_LIMIT, visit_child, &visit, 0);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
