// SPDX-License-Identifier: GPL-2.0
#include "judge.h"

#include <algorithm>
#include <arpa/inet.h>
#include <fmt/format.h>

namespace rxstall {

Class classify(const Socket &socket)
{
	if (socket.rmem == 0)
		return Class::empty;
	if (socket.unread > 0)
		return Class::payload;
	if (socket.out_of_order == Maybe::yes)
		return Class::out_of_order;
	if (socket.error_queue == Maybe::yes)
		return Class::error_queue;
	if (socket.out_of_order == Maybe::unknown || socket.error_queue == Maybe::unknown)
		return Class::unclear;
	return Class::fin_only;
}

uint32_t over_mask()
{
	auto bit = [](State state) { return 1u << static_cast<unsigned>(state); };

	return bit(State::close) | bit(State::close_wait) | bit(State::last_ack) |
	       bit(State::closing);
}

bool is_over(State state)
{
	return over_mask() >> static_cast<unsigned>(state) & 1;
}

namespace {

bool inside(const Prefix &prefix, const Endpoint &endpoint)
{
	std::array<uint8_t, 16> bytes{};
	const int af = prefix.family == Family::ipv4 ? AF_INET : AF_INET6;

	if (inet_pton(af, endpoint.address.c_str(), bytes.data()) != 1)
		return false;
	for (unsigned bit = 0; bit < prefix.bits; bit++) {
		const unsigned mask = 0x80u >> bit % 8;
		if ((bytes[bit / 8] ^ prefix.bytes[bit / 8]) & mask)
			return false;
	}
	return true;
}

bool accepts(const std::vector<PortTest> &tests, uint16_t port)
{
	return std::all_of(tests.begin(), tests.end(), [port](const PortTest &test) {
		return (test.port == port) != test.negate;
	});
}

bool accepts(const std::vector<Prefix> &prefixes, const Endpoint &endpoint)
{
	return std::all_of(prefixes.begin(), prefixes.end(), [&](const Prefix &prefix) {
		return inside(prefix, endpoint);
	});
}

std::string key_text(const Socket &socket, GroupKey key)
{
	switch (key) {
	case GroupKey::process:
		return owner_text(socket);
	case GroupKey::unit:
		return socket.owners.empty() ? std::string() : socket.owners.front().unit;
	case GroupKey::netns:
		return std::to_string(socket.netns);
	case GroupKey::state:
		return std::string(name(socket.state));
	case GroupKey::cls:
		return std::string(name(classify(socket)));
	case GroupKey::peer:
		return endpoint_text(socket.peer, socket.family);
	case GroupKey::dst:
		return socket.peer.address;
	case GroupKey::dport:
		return std::to_string(socket.peer.port);
	case GroupKey::sport:
		return std::to_string(socket.local.port);
	}
	return {};
}

void add(Sums &sums, const Socket &socket)
{
	sums.sockets++;
	sums.rmem += socket.rmem;
	sums.unread += socket.unread;
	sums.pool += socket.pool_pages == Maybe::yes;
	for (const PoolShare &share : socket.shares)
		sums.pages += share.pages;
}

} // namespace

bool matches(const Filter &filter, const Socket &socket)
{
	const uint32_t states = filter.states ? filter.states : over_mask();

	if (socket.rmem == 0 || !(states >> static_cast<unsigned>(socket.state) & 1))
		return false;
	/* a listener's "receive queue" is its accept queue, not memory */
	if (socket.state == State::listen)
		return false;
	if (filter.family && *filter.family != socket.family)
		return false;
	if (filter.netns && *filter.netns != socket.netns)
		return false;
	if (filter.min_age_ms && socket.age_ms.value_or(0) < *filter.min_age_ms)
		return false;
	if (filter.pid && std::none_of(socket.owners.begin(), socket.owners.end(),
				       [&](const Owner &o) { return o.pid == *filter.pid; }))
		return false;
	return accepts(filter.sport, socket.local.port) &&
	       accepts(filter.dport, socket.peer.port) &&
	       accepts(filter.src, socket.local) && accepts(filter.dst, socket.peer);
}

Sums sum(const std::vector<Socket> &sockets)
{
	Sums sums;
	for (const Socket &socket : sockets)
		add(sums, socket);
	return sums;
}

std::vector<Group> group(const std::vector<Socket> &sockets, const std::vector<GroupKey> &keys)
{
	std::map<std::vector<std::string>, Group> found;
	for (const Socket &socket : sockets) {
		std::vector<std::string> texts;
		for (GroupKey key : keys)
			texts.push_back(key_text(socket, key));
		Group &entry = found[texts];
		entry.keys = texts;
		add(entry.sums, socket);
		if (socket.age_ms)
			entry.oldest_ms = std::max(entry.oldest_ms.value_or(0), *socket.age_ms);
	}

	std::vector<Group> groups;
	for (auto &[texts, entry] : found)
		groups.push_back(std::move(entry));
	std::stable_sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
		return a.sums.rmem > b.sums.rmem;
	});
	return groups;
}

uint64_t ownerless(const SockStat &stat)
{
	const uint64_t known = stat.inuse + stat.closed_seen;
	return stat.alloc > known ? stat.alloc - known : 0;
}

std::string owner_text(const Socket &socket)
{
	if (socket.owners.empty())
		return "no owner found";

	const Owner &first = socket.owners.front();
	switch (first.holder) {
	case Holder::unaccepted:
		return first.pid ? fmt::format("{}[{}], not yet accepted", first.comm, first.pid)
				 : "not yet accepted";
	case Holder::in_flight:
		return fmt::format("{}[{}], in flight", first.comm, first.pid);
	case Holder::io_uring:
		return fmt::format("{}[{}], io_uring file", first.comm, first.pid);
	case Holder::nobody:
		return "no owner found";
	case Holder::process:
		break;
	}
	return fmt::format("{}[{}]", first.comm, first.pid);
}

std::string endpoint_text(const Endpoint &endpoint, Family family)
{
	if (endpoint.address.empty())
		return "?";
	return family == Family::ipv6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
				      : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

} // namespace rxstall
