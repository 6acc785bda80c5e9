// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <sys/xattr.h>
#include <unistd.h>
#include <unordered_set>

#include "borrow.h"
#include "proc.h"
#include "proc_parse.h"
#include "progress.h"
#include "scan.h"

namespace rxstall {

namespace {

/*
 * The protocol as sockfs names it, asked without borrowing. "MPTCP" is also
 * said of plain TCP that an MPTCP listener accepted.
 */
bool may_be_tcp(int pid, int fd)
{
	std::array<char, 32> name{};
	const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
	const ssize_t length = getxattr(path.c_str(), "system.sockprotoname", name.data(), name.size());
	if (length < 0)
		return errno != ENOENT;	/* the attribute cannot be read: borrowing will tell */
	const std::string_view text(name.data());
	return text == "TCP" || text == "TCPv6" || text == "MPTCP";
}

class Walk {
public:
	explicit Walk(const ScanRequest &request) : request_(request) {}

	void process(int pid)
	{
		pid_ = pid;
		lender_.reset();
		name_.reset();
		auto done = each_descriptor(pid, [this](int fd, std::string_view link) {
			if (auto inode = parse_socket_link(link))
				descriptor(fd, *inode);
		});
		if (!done && (done.error().code == EACCES || done.error().code == EPERM))
			scan_.refused++;
	}

	Scan take()
	{
		for (auto &[inode, socket] : found_)
			scan_.sockets.push_back(std::move(socket));
		return std::move(scan_);
	}

private:
	void descriptor(int fd, uint64_t inode)
	{
		/* one process may have a million of them */
		if (++looked_ % 256 == 0)
			stopped_ = stopped_ || Stop::requested(request_.stop);
		if (stopped_)
			return;
		if (request_.owners.contains(inode)) {
			scan_.owners[inode].push_back(owner(fd));
			return;
		}
		if (auto known = found_.find(inode); known != found_.end()) {
			known->second.owners.push_back(owner(fd));
			return;
		}
		if (innocent_.contains(inode) ||
		    std::binary_search(request_.listed.begin(), request_.listed.end(), inode))
			return;
		if (!may_be_tcp(pid_, fd) || !suspect(fd, inode))
			innocent_.insert(inode);
	}

	/* Borrows; true if the socket is to be reported or may be by another owner. */
	bool suspect(int fd, uint64_t inode)
	{
		if (pid_ == 1)
			return true;	/* never borrowed from */
		if (!lender_) {
			auto opened = Lender::open(pid_);
			if (!opened)
				return true;
			lender_ = std::move(*opened);
		}
		auto duplicate = lender_->borrow(fd, inode);
		if (!duplicate) {
			if (duplicate.error().code == EPERM && last_refused_ != pid_) {
				last_refused_ = pid_;
				scan_.refused++;
			}
			return true;
		}
		auto state = read_state(duplicate->get());
		if (!state) {
			scan_.mptcp += state.error().code == EPROTONOSUPPORT;
			return false;
		}
		scan_.closed_seen += *state == State::close;
		if (!(request_.states >> static_cast<unsigned>(*state) & 1))
			return false;
		auto socket = read_socket(duplicate->get(), inode);
		if (!socket || socket->rmem == 0)
			return false;
		socket->owners.push_back(owner(fd));
		found_.emplace(inode, std::move(*socket));
		return true;
	}

	Owner owner(int fd)
	{
		if (!name_)
			name_ = name_process(pid_);
		return {Holder::process, pid_, pid_, fd, name_->comm, name_->unit};
	}

	const ScanRequest &request_;
	Scan scan_;
	std::unordered_map<uint64_t, Socket> found_;
	std::unordered_set<uint64_t> innocent_;
	int pid_ = 0;
	unsigned looked_ = 0;
	bool stopped_ = false;
	int last_refused_ = 0;
	std::optional<Lender> lender_;
	std::optional<ProcessName> name_;
};

} // namespace

Scan scan_walk(const ScanRequest &request)
{
	Walk walk(request);
	const std::vector<int> pids = list_processes();
	Progress progress("processes", pids.size());

	for (int pid : pids) {
		if (Stop::requested(request.stop))
			break;
		if (pid != getpid())
			walk.process(pid);
		progress.step();
	}
	return walk.take();
}

} // namespace rxstall
