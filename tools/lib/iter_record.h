/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF iterator writes for one holder of a TCP socket, and what it
 * notes about page pools. Shared by the BPF program and its reader, so plain C
 * with fixed sizes.
 */
#pragma once

#include <linux/types.h>

#define ITER_POOLS 4	/* pools that one socket's record can name */

/* How the socket was come by. */
enum iter_holder {
	ITER_DESCRIPTOR,	/* fd is it */
	ITER_UNACCEPTED,	/* in the accept queue of the listener fd */
	ITER_IN_FLIGHT,		/* in a message that waits on the unix socket fd */
	ITER_IO_URING,		/* a registered file of the ring fd */
};

struct iter_share {
	__u64 pool;		/* the kernel's address: must not leave this program */
	__u64 pages;
};

struct iter_record {
	__u64 inode;
	__u64 cookie;
	struct iter_share pools[ITER_POOLS];
	__u32 netns;
	__u32 pid;
	__u32 tid;
	__u32 fd;
	__u32 rmem;
	__u32 unread;
	__u32 age_jiffies;
	__s32 cpu;
	__s32 error;
	__u16 family;		/* AF_INET or AF_INET6 */
	__u16 sport;
	__u16 dport;
	__u8 state;
	__u8 holder;		/* enum iter_holder */
	__u8 brief;		/* only inode and state are set: closed and empty */
	__u8 out_of_order;
	__u8 error_queue;
	__u8 pool_pages;	/* a segment may sit in page-pool memory */
	__u8 pool_unknown;	/* and of one its pool could not be told */
	__u8 mptcp;
	char ulp[16];
	char comm[16];
	__u8 saddr[16];
	__u8 daddr[16];
};

/* A pool that pages in receive queues led to; the key is its address. */
struct iter_pool {
	__u64 stalled_jiffies;	/* since the driver let go; 0 if it has not */
	__u32 id;		/* 0 before Linux 6.8 */
	__u32 netns;
	__u32 ifindex;
	__u32 hold;		/* pages ever taken, modulo 2^32 */
	__u32 release;		/* and given back */
	__u32 detached;
	__u64 reached;		/* filled in by the reader: different pages met */
	char device[32];	/* network device, else the bus's name of it */
	char driver[32];
};
