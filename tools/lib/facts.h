/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a collector may report: plain structs, no behaviour. A Snapshot is
 * these facts plus when and where they were taken. Judging and rendering
 * need nothing else, so both work on a snapshot from another machine.
 * Payload is never part of the facts.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rxstall {

/* TCP states with the kernel's numbers (include/net/tcp_states.h). */
enum class State : uint8_t {
	established = 1,
	syn_sent,
	syn_recv,
	fin_wait1,
	fin_wait2,
	time_wait,
	close,
	close_wait,
	last_ack,
	listen,
	closing,
};

/* A fact that the method of collection may be unable to settle. */
enum class Maybe : uint8_t { no, yes, unknown };

enum class Family : uint8_t { ipv4 = 4, ipv6 = 6 };

struct Endpoint {
	std::string address;	/* numeric text; empty: not known */
	uint16_t port = 0;

	bool operator==(const Endpoint &) const = default;
};

/* Who keeps a socket alive. */
enum class Holder : uint8_t {
	process,	/* pid and fd say which descriptor */
	unaccepted,	/* still in a listener's accept queue; fd is the listener's */
	in_flight,	/* in a message that waits on pid's unix socket fd */
	io_uring,	/* a registered file of pid's ring fd */
	nobody,		/* no visible owner */
};

struct Owner {
	Holder holder = Holder::nobody;
	int pid = 0;
	int tid = 0;		/* differs from pid if that thread has files of its own */
	int fd = -1;
	std::string comm;	/* as the process chose it: hostile */
	std::string unit;	/* systemd unit or container, from the cgroup */

	bool operator==(const Owner &) const = default;
};

/* How much of a page pool's memory a socket keeps. */
struct PoolShare {
	uint64_t pool = 0;	/* Pool::key */
	uint64_t pages = 0;	/* several sockets may share a page: do not add up */

	bool operator==(const PoolShare &) const = default;
};

struct Socket {
	uint64_t inode = 0;	/* 0: none, the socket was never accepted */
	uint64_t cookie = 0;	/* 0: not asked for */
	uint32_t netns = 0;	/* inode number of the network namespace */
	State state = State::close;
	Family family = Family::ipv4;
	Endpoint local;
	Endpoint peer;
	uint32_t rmem = 0;	/* bytes of truesize charged to the socket */
	uint32_t unread = 0;	/* payload bytes in the receive queue, FIN not counted */
	Maybe out_of_order = Maybe::no;	/* segments wait in the out-of-order queue */
	Maybe error_queue = Maybe::no;	/* messages wait in the error queue */
	Maybe pool_pages = Maybe::unknown;	/* a queued segment sits in page-pool memory */
	bool pool_unclear = false;	/* and of some of it the pool could not be told */
	std::vector<PoolShare> shares;
	std::optional<uint64_t> age_ms;	/* since the peer was last heard */
	std::optional<int> error;	/* pending sk_err, known without taking it by BPF only */
	int cpu = -1;		/* SO_INCOMING_CPU */
	std::string ulp;	/* upper-layer protocol, "tls" for kTLS */
	std::vector<Owner> owners;

	bool operator==(const Socket &) const = default;
};

/* A page pool, as the netdev family lists it or as pages in receive queues led to it. */
struct Pool {
	std::optional<uint64_t> id;	/* absent up to Linux 6.7 */
	uint32_t netns = 0;
	uint32_t ifindex = 0;	/* 0: the device is gone, or was never named to the pool */
	std::string device;	/* interface, or where only that is known the bus's name */
	std::string driver;
	uint32_t napi_id = 0;
	int64_t inflight = 0;	/* pages; negative after a driver's double free */
	std::optional<uint64_t> inflight_mem;	/* bytes */
	std::optional<uint64_t> detached_at;	/* seconds of CLOCK_BOOTTIME */
	bool listed = true;	/* by the netdev family */
	uint64_t key = 0;	/* joins it with PoolShare; 0: no page led to it */
	std::optional<uint32_t> hold;	/* pages ever taken, as the events say it */
	uint64_t reached = 0;	/* different pages of it that receive queues led to */

	bool operator==(const Pool &) const = default;
};

enum class ReportSource : uint8_t { log, event };

/* One sighting of a stalled pool in the kernel log or as an event. */
struct PoolReport {
	ReportSource source = ReportSource::log;
	double at = 0;			/* seconds of CLOCK_BOOTTIME */
	std::optional<uint64_t> id;	/* absent up to Linux 6.7 */
	std::string address;		/* events only: the pool's hashed pointer */
	int64_t inflight = 0;
	std::optional<uint64_t> stalled_s;	/* seconds since the driver let go */
	std::optional<uint32_t> hold;	/* events only: pages ever taken, modulo 2^32 */
	uint32_t ifindex = 0;		/* page_pool_release_stalled only; 0: not known */

	bool operator==(const PoolReport &) const = default;
};

/* /proc/net/sockstat: alloc is host wide, inuse belongs to a namespace. */
struct SockStat {
	uint64_t alloc = 0;	/* TCP sockets that exist, in any state */
	uint64_t mem_pages = 0;
	uint64_t inuse = 0;	/* sum over the namespaces that could be entered */
	uint64_t closed_seen = 0;	/* TCP sockets in CLOSE found behind a descriptor */

	bool operator==(const SockStat &) const = default;
};

struct Netns {
	uint32_t inode = 0;
	std::string name;	/* from /run/netns, may be empty */
	int pid = 0;		/* a process that lives there, 0 if none */
	std::string comm;
	bool entered = false;
	std::optional<int> purge;	/* net.ipv4.tcp_purge_receive_queue */

	bool operator==(const Netns &) const = default;
};

/* A process that has descriptors which are in no /proc/PID/fd. */
struct HiddenHolder {
	Owner owner;		/* holder: in_flight or io_uring; fd: the unix socket or the ring */
	uint64_t count = 0;	/* descriptors of any kind in flight; sockets of a ring */

	bool operator==(const HiddenHolder &) const = default;
};

/* Descriptors that exist but cannot be looked at. */
struct Hidden {
	uint64_t in_flight = 0;		/* passed over unix sockets, not yet received */
	uint64_t io_uring = 0;		/* sockets registered with a ring only */
	uint64_t refused = 0;		/* processes that answered EPERM */
	uint64_t namespaces = 0;	/* namespaces that could not be entered */
	uint64_t mptcp = 0;		/* MPTCP sockets, which are left alone */
	std::vector<HiddenHolder> holders;	/* of in_flight and io_uring */

	bool operator==(const Hidden &) const = default;
};

/* A network device that could have page pools: one with a driver. */
struct Nic {
	uint32_t netns = 0;
	std::string device;
	std::string driver;
	std::string version;
	std::string firmware;

	bool operator==(const Nic &) const = default;
};

/* Something of the kernel or of our privileges that was looked for. */
struct Feature {
	std::string name;
	Maybe present = Maybe::unknown;
	std::string adds;	/* what it gives, or what goes without it */

	bool operator==(const Feature &) const = default;
};

struct Snapshot {
	std::string host;
	std::string kernel;
	int64_t taken = 0;	/* seconds since 1970 */
	double boottime = 0;	/* CLOCK_BOOTTIME at the same moment, seconds */
	std::string method;	/* "bpf" or "walk" */
	double listened = 0;	/* seconds spent listening for pool events */
	std::vector<Socket> sockets;
	std::vector<Pool> pools;
	std::vector<PoolReport> reports;
	std::vector<Netns> namespaces;
	SockStat sockstat;
	Hidden hidden;
	std::vector<Nic> nics;
	std::vector<Feature> features;
	std::vector<std::string> notes;	/* what was missing and what it would add */

	bool operator==(const Snapshot &) const = default;
};

} // namespace rxstall
