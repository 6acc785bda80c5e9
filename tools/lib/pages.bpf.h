/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a segment to the page pools that its memory belongs to: page->pp, as the
 * kernel itself goes when the segment is freed (net/core/skbuff.c:
 * napi_pp_put_page). Only reads, with bounds; a pointer that is stale by the
 * time it is followed reads as zero or as nonsense, which the signature test
 * refuses.
 */
#pragma once

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "iter_record.h"
#include "kernel.bpf.h"

#define QUEUE_LIMIT 4096	/* segments of one socket that are looked at */
#define FRAG_LIMIT 48		/* at most 45 by CONFIG_MAX_SKB_FRAGS */
#define FRAG_SIZE 16		/* skb_frag_t on 64 bits, a bio_vec until Linux 6.8 */
#define CACHE_LIMIT 512		/* slab caches looked at */
#define ORDER_SHIFT 16		/* mm/slub.c: OO_SHIFT */
#define PP_FLAG_DMA_MAP 1
#define LOOPBACK_IFINDEX 1

const volatile __u32 page_shift;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct iter_pool);
} pools SEC(".maps");

/* Pages met, so that one shared by many sockets counts once for its pool ... */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u8);
} pages SEC(".maps");

/* ... and how many that makes, by the pool's address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} reached SEC(".maps");

/* What is being written; the program runs in one reader only. */
static struct iter_record out;

/* Of a linear map that starts at address 0: address / page size gives a page. */
static __u64 page_base;
static __u64 page_sample;
static __u8 page_base_sought;

/*
 * An address of the kernel's linear map and its struct page, both known: the first
 * free object of a slab and the slab, which is its page. That works on any
 * architecture and needs no symbol of the kernel. Two samples must agree.
 */
static long sample_cache(__u32 index, void *ctx)
{
	struct kmem_cache **at = ctx, *cache = *at;
	struct kmem_cache_node *node;
	struct list_head *first;
	struct slab *slab;
	__u64 object, base;

	*at = (void *)BPF_CORE_READ(cache, list.next) - bpf_core_field_offset(struct kmem_cache, list);
	if (BPF_CORE_READ(cache, oo.x) >> ORDER_SHIFT)
		return 0;
	if (bpf_core_field_exists(cache->node))
		node = BPF_CORE_READ(cache, node[0]);
	else
		node = BPF_CORE_READ((struct kmem_cache___7_0 *)cache, per_node[0].node);
	first = BPF_CORE_READ(node, partial.next);
	slab = (void *)first - bpf_core_field_offset(struct slab, slab_list);
	object = (__u64)BPF_CORE_READ(slab, freelist);
	if (!object || BPF_CORE_READ(slab, slab_cache) != cache)
		return 0;
	base = (__u64)slab - (object >> page_shift) * bpf_core_type_size(struct page);
	if (base == page_sample) {
		page_base = base;
		return 1;
	}
	page_sample = base;
	return 0;
}

static void seek_page_base(struct sock *sk)
{
	struct kmem_cache *cache = BPF_CORE_READ(sk, __sk_common.skc_prot, slab);

	page_base_sought = 1;
	if (cache)
		bpf_loop(CACHE_LIMIT, sample_cache, &cache, 0);
}

/*
 * The head page, if it belongs to a pool, or 0. A net_iov has the members that count at the
 * same places.
 */
static __always_inline struct page *pool_page(__u64 address)
{
	struct page *page = (void *)(address & ~3ull);	/* bit 0: a net_iov */
	__u64 word = BPF_CORE_READ(page, pp_magic);

	if (word & 1) {
		/* a tail page: the word leads to its head, or since 7.x may be a mask */
		page = (void *)(word >> 32 == 0xffffffff ? (__u64)page & word : word - 1);
		word = BPF_CORE_READ(page, pp_magic);
	}
	/* PP_SIGNATURE, without the bits that other things are kept in since 6.15 */
	if (word >> 48 != 0xdead || (word & 0x7c) != 0x40)
		return 0;
	return page;
}

/*
 * Not inlined: the compiler would place the address of a member in front of the test
 * whether this kernel has it.
 */
static __attribute__((noinline)) int flags_of_old(struct page_pool *pool)
{
	return BPF_CORE_READ(pool, p.flags);
}

static int holds_device(struct page_pool *pool)
{
	if (bpf_core_field_exists(pool->dma_map))
		return BPF_CORE_READ_BITFIELD_PROBED(pool, dma_map);
	if (bpf_core_field_exists(pool->p.flags))
		return flags_of_old(pool) & PP_FLAG_DMA_MAP;
	return 0;
}

/* Name and driver of a pool's device, as far as its memory is certain to be there. */
static void note_device(struct page_pool *pool, struct iter_pool *fact)
{
	struct net_device *netdev = 0;
	struct device *device = BPF_CORE_READ(pool, p.dev);

	if (device && (!fact->detached || holds_device(pool))) {
		bpf_probe_read_kernel_str(fact->device, sizeof(fact->device),
					  BPF_CORE_READ(device, kobj.name));
		bpf_probe_read_kernel_str(fact->driver, sizeof(fact->driver),
					  BPF_CORE_READ(device, driver, name));
	}
	/* a pool that outlives its device is moved to the loopback device */
	if (bpf_core_field_exists(pool->slow.netdev))
		netdev = BPF_CORE_READ(pool, slow.netdev);
	if (netdev)
		fact->ifindex = BPF_CORE_READ(netdev, ifindex);
	if (fact->ifindex == LOOPBACK_IFINDEX)
		fact->ifindex = 0;
	if (fact->ifindex) {
		fact->netns = BPF_CORE_READ(netdev, nd_net.net, ns.inum);
		bpf_probe_read_kernel_str(fact->device, sizeof(netdev->name), netdev->name);
	}
}

/* Global functions are verified once, not for each call and each way that leads there. */
__attribute__((noinline)) int note_pool(__u64 address)
{
	struct page_pool *pool = (void *)address;
	struct iter_pool fact = {};

	if (bpf_map_lookup_elem(&pools, &address))
		return 0;
	if (bpf_core_field_exists(pool->user.id))
		fact.id = BPF_CORE_READ(pool, user.id);
	fact.hold = BPF_CORE_READ(pool, pages_state_hold_cnt);
	fact.release = BPF_CORE_READ(pool, pages_state_release_cnt.counter);
	/* page_pool_destroy() counts its attempts from the first on */
	fact.detached = BPF_CORE_READ(pool, destroy_cnt) != 0;
	if (fact.detached)
		fact.stalled_jiffies = bpf_jiffies64() - BPF_CORE_READ(pool, defer_start);
	note_device(pool, &fact);
	return bpf_map_update_elem(&pools, &address, &fact, BPF_NOEXIST);
}

static void count_for_pool(__u64 pool, __u64 page)
{
	__u64 one = 1, *sum;
	__u8 met = 1;

	if (bpf_map_update_elem(&pages, &page, &met, BPF_NOEXIST))
		return;
	sum = bpf_map_lookup_elem(&reached, &pool);
	if (sum)
		(*sum)++;
	else
		bpf_map_update_elem(&reached, &pool, &one, BPF_ANY);
}

/* Counts a page once for the socket, if its neighbour in the same queue is the same. */
__attribute__((noinline)) __u64 count_page(__u64 address, __u64 last)
{
	struct page *head = address ? pool_page(address) : 0;
	__u64 page = (__u64)head, pool;

	if (!head)
		return last;
	if (page == last)
		return page;
	pool = (__u64)BPF_CORE_READ(head, pp);
	count_for_pool(pool, page);
	for (int i = 0; i < ITER_POOLS; i++) {
		if (!out.pools[i].pool)
			out.pools[i].pool = pool;
		if (out.pools[i].pool == pool) {
			out.pools[i].pages++;
			return page;
		}
	}
	out.pool_unknown = 1;	/* a fifth pool */
	return page;
}

struct walk {
	struct sk_buff *skb;
	struct sk_buff *end;
	struct sk_buff *resume;	/* where to go on behind a list of fragments */
	struct rb_node *node;
	struct rb_node *from;
	__u64 last;		/* the page counted before */
};

static struct skb_shared_info *shared_info(struct sk_buff *skb)
{
	return (void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
}

static __always_inline void count_segment(struct sk_buff *skb, struct walk *walk)
{
	struct skb_shared_info *shared = shared_info(skb);
	__u64 before = walk->last, page = 0;
	__u8 frags;

	if (!BPF_CORE_READ_BITFIELD_PROBED(skb, pp_recycle))
		return;
	out.pool_pages = 1;
	walk->last = 0;
	if (BPF_CORE_READ_BITFIELD_PROBED(skb, head_frag) && page_base) {
		page = page_base + ((__u64)BPF_CORE_READ(skb, head) >> page_shift) *
					   bpf_core_type_size(struct page);
		walk->last = count_page(page, before);
	}
	frags = BPF_CORE_READ(shared, nr_frags);
	for (int i = 0; i < FRAG_LIMIT && i < frags; i++) {
		bpf_probe_read_kernel(&page, sizeof(page), (void *)shared + i * FRAG_SIZE +
				      bpf_core_field_offset(struct skb_shared_info, frags));
		walk->last = count_page(page, walk->last);
	}
	if (!walk->last)
		out.pool_unknown = 1;
}

static long queue_step(__u32 index, void *ctx)
{
	struct walk *walk = ctx;
	struct sk_buff *skb = walk->skb, *list;

	if (!skb || skb == walk->end)
		return 1;
	count_segment(skb, walk);
	list = walk->resume ? 0 : BPF_CORE_READ(shared_info(skb), frag_list);
	walk->skb = BPF_CORE_READ(skb, next);
	if (list) {
		walk->resume = walk->skb;
		walk->skb = list;
	} else if (walk->resume && !walk->skb) {
		walk->skb = walk->resume;
		walk->resume = 0;
	}
	return 0;
}

/* One edge of a walk around a red-black tree; a node is counted when come to from above. */
static long tree_step(__u32 index, void *ctx)
{
	struct walk *walk = ctx;
	struct rb_node *node = walk->node, *left, *right, *up;

	if (!node)
		return 1;
	left = BPF_CORE_READ(node, rb_left);
	right = BPF_CORE_READ(node, rb_right);
	up = (void *)(BPF_CORE_READ(node, __rb_parent_color) & ~3ul);
	if (walk->from == up)
		count_segment((void *)node - bpf_core_field_offset(struct sk_buff, rbnode), walk);
	if (walk->from == up && left)
		walk->node = left;
	else if ((walk->from == up || (left && walk->from == left)) && right)
		walk->node = right;
	else
		walk->node = up;
	walk->from = node;
	return 0;
}

/* Fills pools, pool_pages and pool_unknown of the record. */
__attribute__((noinline)) int count_pages(__u64 address)
{
	struct sock *sk = (void *)address;
	struct walk walk = {
		.skb = BPF_CORE_READ(sk, sk_receive_queue.next),
		.end = (void *)sk + bpf_core_field_offset(struct sock, sk_receive_queue),
		.node = BPF_CORE_READ((struct tcp_sock *)sk, out_of_order_queue.rb_node),
	};

	if (!page_base_sought)
		seek_page_base(sk);
	bpf_loop(QUEUE_LIMIT, queue_step, &walk, 0);
	if (walk.skb && walk.skb != walk.end)
		out.pool_unknown = 1;
	bpf_loop(2 * QUEUE_LIMIT, tree_step, &walk, 0);
	if (walk.node)
		out.pool_unknown = 1;
	return 0;
}
