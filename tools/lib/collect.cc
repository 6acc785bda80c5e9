// SPDX-License-Identifier: GPL-2.0
#include "collect.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <sys/utsname.h>
#include <unordered_set>

#include "collect_pools.h"
#include "hidden.h"
#include "judge.h"
#include "knob.h"
#include "netns.h"
#include "probe.h"
#include "proc.h"
#include "proc_parse.h"
#include "scan.h"
#include "sockdiag.h"

namespace rxstall {

namespace {

constexpr uint32_t bit(State state) { return 1u << static_cast<unsigned>(state); }

struct Listener {
	uint64_t inode;
	uint32_t netns;
	uint16_t port;
};

/* What the namespaces tell, before any descriptor is looked at. */
struct Survey {
	std::vector<Socket> sockets;		/* wanted, alive, holding receive memory */
	std::vector<Listener> listeners;
	std::vector<uint32_t> listed;		/* inodes of all that are alive, if asked for */
};

void survey_here(uint32_t netns, const CollectRequest &request, bool list_all, Snapshot &snapshot,
		 Survey &survey)
{
	auto details = dump_sockets(request.states & ~bit(State::close) & ~bit(State::time_wait),
				    Detail::memory, [&](const DiagSocket &found) {
		if (found.socket.state == State::listen || found.socket.rmem == 0)
			return;
		survey.sockets.push_back(found.socket);
		survey.sockets.back().netns = netns;
	});
	if (!details) {
		snapshot.notes.push_back(details.error().text +
					 ": sockets that were never accepted are missing");
		return;
	}

	const bool unaccepted = std::any_of(survey.sockets.begin(), survey.sockets.end(),
					    [](const Socket &s) { return s.inode == 0; });
	if (!list_all && !unaccepted)
		return;
	auto identities = dump_sockets(list_all ? all_states : bit(State::listen), Detail::identity,
				       [&](const DiagSocket &found) {
		if (list_all && found.socket.inode)
			survey.listed.push_back(static_cast<uint32_t>(found.socket.inode));
		if (found.socket.state == State::listen)
			survey.listeners.push_back({found.socket.inode, netns, found.socket.local.port});
	});
	if (!identities)
		snapshot.notes.push_back(identities.error().text + ": more sockets are borrowed than need be");
}

void add_sockstat(SockStat &stat)
{
	const SockstatTcp four = parse_sockstat(read_file("/proc/thread-self/net/sockstat").value_or(""));
	const SockstatTcp six = parse_sockstat(read_file("/proc/thread-self/net/sockstat6").value_or(""));
	stat.alloc = four.alloc;
	stat.mem_pages = four.mem_pages;
	stat.inuse += four.inuse + six.inuse;
}

Survey survey_namespaces(const CollectRequest &request, bool list_all, Snapshot &snapshot)
{
	Survey survey;
	for (NetnsPath &entry : list_netns(NetnsSearch::processes)) {
		if (Stop::requested(request.stop))
			break;
		auto there = InNetns::enter(entry.path);
		entry.netns.entered = there.has_value();
		if (there) {
			survey_here(entry.netns.inode, request, list_all, snapshot, survey);
			add_sockstat(snapshot.sockstat);
			entry.netns.purge = read_purge();
		} else {
			snapshot.hidden.namespaces++;
		}
		snapshot.namespaces.push_back(std::move(entry.netns));
	}
	std::sort(survey.listed.begin(), survey.listed.end());
	return survey;
}

uint64_t listener_of(const Survey &survey, const Socket &socket)
{
	for (const Listener &listener : survey.listeners)
		if (listener.netns == socket.netns && listener.port == socket.local.port)
			return listener.inode;
	return 0;
}

Result<Scan> scan(const ScanRequest &request, const std::string &method, Snapshot &snapshot)
{
	snapshot.method = method == "walk" ? "walk" : "bpf";
	return method == "walk" ? scan_walk(request) : scan_bpf(request);
}

/* Owners of what sock_diag listed: descriptors, else the listener's, else a ring's. */
void settle_owners(Socket &socket, const Survey &survey, Scan &scan, const Rings &rings)
{
	if (socket.inode == 0) {
		Owner owner;
		if (is_over(socket.state) || socket.state == State::established)
			owner.holder = Holder::unaccepted;
		if (auto found = scan.owners.find(listener_of(survey, socket)); found != scan.owners.end()) {
			owner = found->second.front();
			owner.holder = Holder::unaccepted;
		}
		socket.owners = {owner};
	} else if (auto found = scan.owners.find(socket.inode); found != scan.owners.end()) {
		socket.owners = found->second;
	} else if (auto ring = rings.find(socket.inode); ring != rings.end()) {
		socket.owners = {ring->second};
	}
}

void order(std::vector<Socket> &sockets)
{
	for (Socket &socket : sockets)
		std::sort(socket.owners.begin(), socket.owners.end(), [](const Owner &a, const Owner &b) {
			return std::tie(a.pid, a.tid, a.fd) < std::tie(b.pid, b.tid, b.fd);
		});
	std::sort(sockets.begin(), sockets.end(), [](const Socket &a, const Socket &b) {
		const auto key = [](const Socket &s) {
			return std::tuple(s.netns, s.owners.empty() ? 0 : s.owners.front().pid,
					  s.owners.empty() ? 0 : s.owners.front().fd, s.inode,
					  s.local.port, s.peer.port);
		};
		return key(a) < key(b);
	});
}

/* What a scan found already: by inode, or, as it has none before accept(), by its names. */
class Known {
public:
	explicit Known(const std::vector<Socket> &sockets)
	{
		for (const Socket &socket : sockets) {
			if (socket.inode)
				inodes_.insert(socket.inode);
			else
				names_.insert(names_of(socket));
		}
	}

	bool has(const Socket &socket) const
	{
		return socket.inode ? inodes_.contains(socket.inode) : names_.contains(names_of(socket));
	}

private:
	using Names = std::tuple<uint32_t, std::string, std::string>;

	static Names names_of(const Socket &socket)
	{
		return {socket.netns, endpoint_text(socket.local, socket.family),
			endpoint_text(socket.peer, socket.family)};
	}

	std::unordered_set<uint64_t> inodes_;
	std::set<Names> names_;
};

Result<void> collect_sockets(const CollectRequest &request, const std::string &method, Snapshot &snapshot)
{
	Survey survey = survey_namespaces(request, method == "walk", snapshot);
	ScanRequest wanted;
	wanted.states = request.states;
	for (const Socket &socket : survey.sockets)
		wanted.owners.try_emplace(socket.inode ? socket.inode : listener_of(survey, socket));
	wanted.owners.erase(0);
	wanted.listed = std::move(survey.listed);
	wanted.stop = request.stop;

	auto scanned = scan(wanted, method, snapshot);
	if (!scanned)
		return tl::unexpected(scanned.error());
	snapshot.sockstat.closed_seen = scanned->closed_seen;
	snapshot.hidden.mptcp = scanned->mptcp;
	snapshot.hidden.refused = scanned->refused;
	snapshot.sockets = std::move(scanned->sockets);
	snapshot.pools = std::move(scanned->pools);

	Known known(snapshot.sockets);
	const bool lost = std::any_of(survey.sockets.begin(), survey.sockets.end(), [&](const Socket &s) {
		return s.inode && !known.has(s) && !scanned->owners.contains(s.inode);
	});
	Rings rings;
	if (lost || ownerless(snapshot.sockstat))
		rings = find_hidden(snapshot.hidden, request.stop);
	if (Stop::requested(request.stop))
		return failure(ECANCELED, "the scan");

	for (Socket &socket : survey.sockets) {
		if (known.has(socket))
			continue;	/* the iterator saw more of it */
		settle_owners(socket, survey, *scanned, rings);
		snapshot.sockets.push_back(std::move(socket));
	}
	order(snapshot.sockets);
	return {};
}

} // namespace

double boot_seconds()
{
	timespec now{};
	clock_gettime(CLOCK_BOOTTIME, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Snapshot begin_snapshot()
{
	Snapshot snapshot;
	utsname name{};
	uname(&name);
	snapshot.host = name.nodename;
	snapshot.kernel = name.release;
	snapshot.taken = time(nullptr);
	snapshot.boottime = boot_seconds();
	return snapshot;
}

Result<Snapshot> collect(const CollectRequest &request)
{
	Snapshot snapshot = begin_snapshot();
	if (request.states) {
		auto done = collect_sockets(request, request.method, snapshot);
		if (!done && done.error().code != ECANCELED && request.method.empty()) {
			const std::string why = done.error().text;
			snapshot = begin_snapshot();
			snapshot.notes.push_back(why + ": walking /proc instead, which is slower and "
						 "cannot tell page-pool memory");
			done = collect_sockets(request, "walk", snapshot);
		}
		if (!done)
			return tl::unexpected(done.error());
	}
	if (request.host)
		probe_host(snapshot);
	if (request.pools)
		collect_pools(snapshot, request.listen);
	return snapshot;
}

} // namespace rxstall
