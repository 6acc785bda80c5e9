// SPDX-License-Identifier: GPL-2.0
#include "netns.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unordered_map>

#include "proc.h"
#include "proc_parse.h"

namespace rxstall {

namespace {

constexpr const char *own_path = "/proc/thread-self/ns/net";

class Finder {
public:
	void add(const std::string &path, int pid, const std::string &name = {})
	{
		struct stat status{};
		if (stat(path.c_str(), &status) != 0)
			return;
		const auto inode = static_cast<uint32_t>(status.st_ino);
		auto [entry, fresh] = index_.try_emplace(inode, found_.size());
		if (fresh) {
			found_.push_back({Netns{}, path});
			found_.back().netns.inode = inode;
		}
		Netns &netns = found_[entry->second].netns;
		if (netns.name.empty())
			netns.name = name;
		if (pid && !netns.pid && pid != getpid()) {
			netns.pid = pid;
			netns.comm = name_process(pid).comm;
		}
	}

	std::vector<NetnsPath> take() { return std::move(found_); }

private:
	std::unordered_map<uint32_t, size_t> index_;
	std::vector<NetnsPath> found_;
};

void add_threads(Finder &finder, int pid)
{
	std::error_code error;
	const std::string base = "/proc/" + std::to_string(pid) + "/task";
	for (const auto &entry : std::filesystem::directory_iterator(base, error))
		finder.add(entry.path().string() + "/ns/net", pid);
}

} // namespace

std::vector<NetnsPath> list_netns(NetnsSearch search)
{
	Finder finder;
	finder.add(own_path, getpid());
	for (int pid : list_processes()) {
		if (search == NetnsSearch::threads)
			add_threads(finder, pid);
		else
			finder.add("/proc/" + std::to_string(pid) + "/ns/net", pid);
	}
	for (const std::string &path : parse_netns_mounts(read_file("/proc/self/mountinfo").value_or(""))) {
		const std::filesystem::path file(path);
		finder.add(path, 0, file.parent_path() == "/run/netns" ? file.filename().string() : "");
	}
	return finder.take();
}

uint64_t netns_cookie()
{
	const Fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);
	if (getsockopt(fd.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) != 0)
		return 0;
	return cookie;
}

Result<InNetns> InNetns::enter(const std::string &path) { return enter(path, std::nullopt); }

Result<InNetns> InNetns::enter(const NetnsPath &place) { return enter(place.path, place.netns.inode); }

Result<InNetns> InNetns::enter(const std::string &path, std::optional<ino_t> expected)
{
	Fd home(open(own_path, O_RDONLY | O_CLOEXEC));
	Fd target(open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!home || !target)
		return failure(errno, path);
	struct stat here{}, there{};
	if (fstat(home.get(), &here) != 0 || fstat(target.get(), &there) != 0)
		return failure(errno, path);
	if (expected && there.st_ino != *expected)
		return failure(ENOENT, path);
	/* where we are already takes no privilege to be */
	if (here.st_ino == there.st_ino)
		return InNetns(Fd());
	if (setns(target.get(), CLONE_NEWNET) != 0)
		return failure(errno, "cannot enter network namespace " + path);
	return InNetns(std::move(home));
}

InNetns::~InNetns()
{
	if (home_ && setns(home_.get(), CLONE_NEWNET) != 0)
		std::abort();
}

} // namespace rxstall
