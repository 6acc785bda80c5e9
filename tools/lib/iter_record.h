/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF iterator writes for one descriptor of a TCP socket. Shared by
 * the BPF program and its reader, so plain C with fixed sizes.
 */
#pragma once

#include <linux/types.h>

struct iter_record {
	__u64 inode;
	__u64 cookie;
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
	__u8 brief;		/* only inode and state are set: closed and empty */
	__u8 out_of_order;
	__u8 error_queue;
	__u8 pool_pages;
	__u8 mptcp;
	char ulp[16];
	char comm[16];
	__u8 saddr[16];
	__u8 daddr[16];
};
