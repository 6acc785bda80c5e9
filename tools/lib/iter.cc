// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
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

	Scan take()
	{
		for (auto &[inode, socket] : found_)
			scan_.sockets.push_back(std::move(socket));
		return std::move(scan_);
	}

private:
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
		out.age_ms = in.age_jiffies * 1000ull / ticks_;
		out.error = in.error;
		out.cpu = in.cpu;
		out.ulp.assign(in.ulp, strnlen(in.ulp, sizeof(in.ulp)));
		return out;
	}

	Owner owner(const iter_record &in)
	{
		const auto pid = static_cast<int>(in.pid);
		auto [entry, fresh] = units_.try_emplace(pid);
		if (fresh)
			entry->second = name_process(pid).unit;
		return {Holder::process, pid, static_cast<int>(in.tid), static_cast<int>(in.fd),
			std::string(in.comm, strnlen(in.comm, sizeof(in.comm))), entry->second};
	}

	const ScanRequest &request_;
	const uint64_t ticks_ = ticks_per_second();
	Scan scan_;
	std::unordered_map<uint64_t, Socket> found_;
	std::unordered_set<uint64_t> brief_;
	std::unordered_map<int, std::string> units_;
};

} // namespace

Result<Scan> scan_bpf(const ScanRequest &request)
{
	libbpf_set_print(silent);
	std::unique_ptr<iter, SkelDestroy> skel(iter__open());
	if (!skel)
		return failure(errno, "BPF iterator");
	skel->rodata->wanted_states = request.states;
	skel->rodata->listeners = !request.owners.empty();
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
	for (;;) {
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
	return reader.take();
}

} // namespace rxstall
