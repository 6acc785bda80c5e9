/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judging sockets: is the connection over, what kind of memory does it
 * hold, does a filter select it, what do they sum to. Pure functions over
 * the facts; nothing here reads the machine.
 */
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facts.h"
#include "names.h"

namespace rxstall {

/* What occupies a socket's receive memory, worst kind first. */
enum class Class : uint8_t {
	payload,	/* bytes the application could still read */
	out_of_order,	/* segments behind a hole, unreadable */
	error_queue,	/* timestamps or zerocopy notes never fetched */
	unclear,	/* one of out_of_order, error_queue, fin_only */
	fin_only,	/* the peer's FIN and nothing else */
	empty,		/* no receive memory */
};

inline constexpr std::array<Name<Class>, 6> class_names{{
	{Class::payload, "payload"},
	{Class::out_of_order, "out-of-order"},
	{Class::error_queue, "error-queue"},
	{Class::unclear, "unclear"},
	{Class::fin_only, "fin-only"},
	{Class::empty, "empty"},
}};

inline std::string_view name(Class c) { return name_of(class_names, c); }

[[nodiscard]] Class classify(const Socket &socket);

/*
 * Has the peer ended the connection? True for CLOSE and for the states in
 * which its FIN has arrived (RFC 9293, 3.3.2); TIME_WAIT holds no queue.
 */
[[nodiscard]] bool is_over(State state);

/* Every state, as a mask of 1 << state. */
inline constexpr uint32_t all_states = ((1u << 12) - 1) & ~1u;

/* States that is_over() accepts, as a mask of 1 << state. */
[[nodiscard]] uint32_t over_mask();

/* An address prefix: family, bytes in network order, bits that count. */
struct Prefix {
	Family family = Family::ipv4;
	std::array<uint8_t, 16> bytes{};
	unsigned bits = 0;
};

struct PortTest {
	uint16_t port = 0;
	bool negate = false;
};

/* A conjunction, as on ss's command line; what is absent matches all. */
struct Filter {
	std::optional<Family> family;
	uint32_t states = 0;		/* mask of 1 << state; 0: is_over() */
	std::optional<uint64_t> min_age_ms;
	std::optional<uint32_t> netns;
	std::vector<PortTest> sport;
	std::vector<PortTest> dport;
	std::vector<Prefix> src;
	std::vector<Prefix> dst;
	std::optional<int> pid;
};

/* Does the filter select this socket? A socket without receive memory never is. */
[[nodiscard]] bool matches(const Filter &filter, const Socket &socket);

struct Sums {
	uint64_t sockets = 0;
	uint64_t rmem = 0;	/* bytes of truesize */
	uint64_t unread = 0;	/* bytes of payload */
	uint64_t pool = 0;	/* sockets whose segments sit in page-pool memory */
	uint64_t pages = 0;	/* of page pools; one that two sockets share counts twice */
};

[[nodiscard]] Sums sum(const std::vector<Socket> &sockets);

/* What to put on one line together. */
enum class GroupKey : uint8_t { process, unit, netns, state, cls, peer, dst, dport, sport };

inline constexpr std::array<Name<GroupKey>, 9> group_names{{
	{GroupKey::process, "process"},
	{GroupKey::unit, "unit"},
	{GroupKey::netns, "netns"},
	{GroupKey::state, "state"},
	{GroupKey::cls, "class"},
	{GroupKey::peer, "peer"},
	{GroupKey::dst, "dst"},
	{GroupKey::dport, "dport"},
	{GroupKey::sport, "sport"},
}};

struct Group {
	std::vector<std::string> keys;	/* raw text, one a GroupKey */
	Sums sums;
	std::optional<uint64_t> oldest_ms;
};

/* Groups in the order of the memory they hold, largest first. */
[[nodiscard]] std::vector<Group> group(const std::vector<Socket> &sockets,
				       const std::vector<GroupKey> &keys);

/*
 * TCP sockets in CLOSE that no visible descriptor leads to: those the
 * kernel counts as allocated, less those in its hash tables
 * (net/ipv4/proc.c: sockstat_seq_show) and those seen. Sockets that were
 * just created count too, so a small number means nothing.
 */
[[nodiscard]] uint64_t ownerless(const SockStat &stat);

/* "comm[pid]" of the first owner and how many more there are, or what holds it instead. */
[[nodiscard]] std::string owner_text(const Socket &socket);

/* "10.0.0.1:443", "[2001:db8::1]:443". */
[[nodiscard]] std::string endpoint_text(const Endpoint &endpoint, Family family);

} // namespace rxstall
