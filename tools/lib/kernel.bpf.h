/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's structures, with just the members that the iterator reads;
 * libbpf places them by the running kernel's BTF (preserve_access_index).
 * A name with three underscores is the form of another kernel version.
 */
#pragma once

#include <linux/bpf.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct { int counter; } atomic_t;
typedef struct { long long counter; } atomic64_t;

struct list_head { struct list_head *next; };

struct ns_common { unsigned int inum; };
struct net { struct ns_common ns; };
typedef struct { struct net *net; } possible_net_t;

struct in6_addr { union { __u8 u6_addr8[16]; } in6_u; };

/* What is under a page: mm/slab.h. */
struct kmem_cache_node { struct list_head partial; };
struct kmem_cache_order_objects { unsigned int x; };
struct kmem_cache {
	struct kmem_cache_order_objects oo;
	struct list_head list;
	struct kmem_cache_node *node[1];
};
struct kmem_cache_per_node_ptrs { struct kmem_cache_node *node; };
struct kmem_cache___7_0 { struct kmem_cache_per_node_ptrs per_node[1]; };
struct slab {
	struct kmem_cache *slab_cache;
	struct list_head slab_list;
	void *freelist;
};

struct page {
	unsigned long pp_magic;
	struct page_pool *pp;
};

struct device_driver { const char *name; };
struct kobject { const char *name; };
struct device { struct kobject kobj; struct device_driver *driver; };
struct net_device { char name[16]; int ifindex; possible_net_t nd_net; };

struct page_pool {
	struct { unsigned int flags; struct device *dev; } p;	/* flags: until Linux 6.9 */
	_Bool dma_map:1;			/* since 6.10 */
	struct { struct net_device *netdev; } slow;	/* since 6.8 */
	struct { __u32 id; } user;		/* since 6.8 */
	unsigned long defer_start;
	__u32 pages_state_hold_cnt;
	atomic_t pages_state_release_cnt;
	__u64 destroy_cnt;
};

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};
struct rb_root { struct rb_node *rb_node; };

struct sk_buff {
	struct sk_buff *next;
	struct rb_node rbnode;
	unsigned char head_frag:1;
	unsigned char pp_recycle:1;
	char cb[48];
	unsigned int end;
	unsigned char *head;
};

struct skb_shared_info {
	__u8 nr_frags;
	struct sk_buff *frag_list;
	struct { unsigned long page; } frags[1];
};

struct sk_buff_head {
	struct sk_buff *next;
	__u32 qlen;
};

struct proto { struct kmem_cache *slab; };

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct proto *skc_prot;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
	unsigned long skc_flags;
	int skc_incoming_cpu;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_error_queue;
	struct sk_buff_head sk_receive_queue;
	struct { atomic_t rmem_alloc; } sk_backlog;
	__u16 sk_protocol;
	__u16 sk_type;
	int sk_err;
	void *sk_user_data;
};

struct request_sock { struct request_sock *dl_next; struct sock *sk; };
struct request_sock_queue { struct request_sock *rskq_accept_head; };

struct tcp_ulp_ops { char name[16]; };
struct inet_sock { struct sock sk; __be16 inet_sport; };
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct request_sock_queue icsk_accept_queue;
	const struct tcp_ulp_ops *icsk_ulp_ops;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 rcv_nxt;
	__u32 copied_seq;
	__u32 rcv_tstamp;
	struct rb_root out_of_order_queue;
};

struct inode { unsigned long i_ino; };
struct file_operations;
struct file {
	struct inode *f_inode;
	const struct file_operations *f_op;
	void *private_data;
};
struct socket { struct sock *sk; };

/* Descriptors that a message on a unix socket carries: include/net/scm.h. */
struct scm_fp_list { short count; struct file *fp[1]; };
struct unix_skb_parms { struct scm_fp_list *fp; };

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
