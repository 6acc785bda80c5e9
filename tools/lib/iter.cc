// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <array>
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <unistd.h>
#include <unordered_set>

#include "fd.h"
#include "iter.skel.h"
#include "iter_record.h"
#include "proc.h"
#include "scan.h"

namespace rxstall {

namespace {

struct SkelDestroy {
	void operator()(iter *skel) const { iter__destroy(skel); }
};
struct LinkDestroy {
	void operator()(bpf_link *link) const { bpf_link__destroy(link); }
};

int silent(libbpf_print_level, const char *, va_list) { return 0; }

/* Jiffies a second: the coarse clock ticks once a jiffy. */
uint64_t ticks_per_second()
{
	timespec tick{};
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_nsec > 0 ? (1'000'000'000u + tick.tv_nsec / 2) / tick.tv_nsec : 1000;
}

Endpoint endpoint(int family, const __u8 *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "";
	inet_ntop(family, address, text, sizeof(text));
	return {text, port};
}

Maybe maybe(__u8 flag) { return flag ? Maybe::yes : Maybe::no; }

/*
 * A number for a kernel address, the same as long as this program runs: the
 * address itself is nobody's business.
 */
uint64_t key_of(uint64_t address)
{
	static std::map<uint64_t, uint64_t> known;
	return known.try_emplace(address, known.size() + 1).first->second;
}

std::string text_of(const char *field, size_t size) { return {field, strnlen(field, size)}; }

double now_on(clockid_t clock)
{
	timespec now{};
	clock_gettime(clock, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

constexpr std::array<Holder, 4> holders = {Holder::process, Holder::unaccepted, Holder::in_flight,
					   Holder::io_uring};

class Reader {
public:
	explicit Reader(const ScanRequest &request) : request_(request) {}

	void record(const iter_record &in)
	{
		if (in.mptcp) {
			if (brief_.insert(in.inode).second)
				scan_.mptcp++;
			return;
		}
		if (in.brief) {
			if (brief_.insert(in.inode).second)
				scan_.closed_seen++;
			return;
		}
		if (in.inode == 0) {
			unaccepted(in);
			return;
		}
		if (request_.owners.contains(in.inode))
			scan_.owners[in.inode].push_back(owner(in));
		if (in.state == static_cast<uint8_t>(State::listen))
			return;
		auto [entry, fresh] = found_.try_emplace(in.inode);
		if (fresh) {
			entry->second = socket(in);
			scan_.closed_seen += in.state == static_cast<uint8_t>(State::close);
		}
		entry->second.owners.push_back(owner(in));
	}

	void pool(uint64_t address, const iter_pool &in)
	{
		Pool out;
		if (in.id)
			out.id = in.id;
		out.netns = in.netns;
		out.ifindex = in.ifindex;
		out.device = text_of(in.device, sizeof(in.device));
		out.driver = text_of(in.driver, sizeof(in.driver));
		out.inflight = static_cast<int32_t>(in.hold - in.release);
		const auto now = static_cast<uint64_t>(now_on(CLOCK_BOOTTIME));
		if (in.detached)
			out.detached_at = now - std::min<uint64_t>(now, in.stalled_jiffies / ticks_);
		out.listed = false;
		out.key = key_of(address);
		out.hold = in.hold;
		out.reached = in.reached;
		scan_.pools.push_back(std::move(out));
	}

	Scan take()
	{
		for (auto &[inode, socket] : found_)
			scan_.sockets.push_back(std::move(socket));
		for (auto &[names, socket] : unaccepted_)
			scan_.sockets.push_back(std::move(socket));
		return std::move(scan_);
	}

private:
	/* A listener may be shared: its children come once for each descriptor of it. */
	void unaccepted(const iter_record &in)
	{
		Socket child = socket(in);
		const auto names = std::tuple(child.netns, child.local.address, child.local.port,
					      child.peer.address, child.peer.port);
		auto [entry, fresh] = unaccepted_.try_emplace(names, std::move(child));
		if (!fresh)
			return;
		entry->second.owners = {owner(in)};
		scan_.closed_seen += in.state == static_cast<uint8_t>(State::close);
	}

	Socket socket(const iter_record &in) const
	{
		Socket out;
		out.inode = in.inode;
		out.cookie = in.cookie;
		out.netns = in.netns;
		out.state = static_cast<State>(in.state);
		out.family = in.family == AF_INET6 ? Family::ipv6 : Family::ipv4;
		out.local = endpoint(in.family, in.saddr, in.sport);
		out.peer = endpoint(in.family, in.daddr, in.dport);
		out.rmem = in.rmem;
		out.unread = in.unread;
		out.out_of_order = maybe(in.out_of_order);
		out.error_queue = maybe(in.error_queue);
		out.pool_pages = maybe(in.pool_pages);
		out.pool_unclear = in.pool_unknown;
		for (const iter_share &share : in.pools)
			if (share.pool)
				out.shares.push_back({key_of(share.pool), share.pages});
		out.age_ms = in.age_jiffies * 1000ull / ticks_;
		out.error = in.error;
		out.cpu = in.cpu;
		out.ulp = text_of(in.ulp, sizeof(in.ulp));
		return out;
	}

	Owner owner(const iter_record &in)
	{
		const auto pid = static_cast<int>(in.pid);
		auto [entry, fresh] = units_.try_emplace(pid);
		if (fresh)
			entry->second = name_process(pid).unit;
		return {holders.at(in.holder), pid, static_cast<int>(in.tid), static_cast<int>(in.fd),
			text_of(in.comm, sizeof(in.comm)), entry->second};
	}

	const ScanRequest &request_;
	const uint64_t ticks_ = ticks_per_second();
	Scan scan_;
	std::unordered_map<uint64_t, Socket> found_;
	std::map<std::tuple<uint32_t, std::string, uint16_t, std::string, uint16_t>, Socket> unaccepted_;
	std::unordered_set<uint64_t> brief_;
	std::unordered_map<int, std::string> units_;
};

} // namespace

Result<Scan> scan_bpf(const ScanRequest &request)
{
	/* loading takes longest */
	if (Stop::requested(request.stop))
		return Scan{};
	libbpf_set_print(silent);
	std::unique_ptr<iter, SkelDestroy> skel(iter__open());
	if (!skel)
		return failure(errno, "BPF iterator");
	skel->rodata->wanted_states = request.states;
	skel->rodata->listeners = !request.owners.empty();
	skel->rodata->page_shift = static_cast<uint32_t>(__builtin_ctzl(static_cast<unsigned long>(getpagesize())));
	if (int error = iter__load(skel.get()))
		return failure(-error, "BPF iterator");

	std::unique_ptr<bpf_link, LinkDestroy> link(
		bpf_program__attach_iter(skel->progs.tcp_files, nullptr));
	if (!link)
		return failure(errno, "BPF iterator");
	Fd fd(bpf_iter_create(bpf_link__fd(link.get())));
	if (!fd)
		return failure(errno, "BPF iterator");

	Reader reader(request);
	std::vector<iter_record> records(512);
	auto *bytes = reinterpret_cast<char *>(records.data());
	const size_t room = records.size() * sizeof(iter_record);
	size_t have = 0;
	while (!Stop::requested(request.stop)) {
		/* EAGAIN: the kernel's buffer was full of skipped files; ask again */
		const ssize_t length = read(fd.get(), bytes + have, room - have);
		if (length < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (length < 0)
			return failure(errno, "reading the BPF iterator");
		if (length == 0)
			break;
		have += static_cast<size_t>(length);
		const size_t whole = have / sizeof(iter_record);
		for (size_t i = 0; i < whole; i++)
			reader.record(records[i]);
		have -= whole * sizeof(iter_record);
		std::memmove(bytes, bytes + whole * sizeof(iter_record), have);
	}

	const int map = bpf_map__fd(skel->maps.pools);
	uint64_t address = 0, *previous = nullptr;
	iter_pool pool{};
	while (bpf_map_get_next_key(map, previous, &address) == 0) {
		if (bpf_map_lookup_elem(map, &address, &pool) == 0 &&
		    bpf_map_lookup_elem(bpf_map__fd(skel->maps.reached), &address, &pool.reached) == 0)
			reader.pool(address, pool);
		previous = &address;
	}
	return reader.take();
}

} // namespace rxstall
