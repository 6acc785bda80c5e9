// SPDX-License-Identifier: GPL-2.0
#include "proc.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>

#include "proc_parse.h"
#include "text.h"

namespace rxstall {

namespace {

struct DirClose {
	void operator()(DIR *dir) const { closedir(dir); }
};
using Dir = std::unique_ptr<DIR, DirClose>;

} // namespace

Result<std::string> read_file(const std::string &path, size_t limit)
{
	Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd)
		return failure(errno, path);

	std::string text;
	char buffer[4096];
	while (text.size() < limit) {
		const ssize_t length = read(fd.get(), buffer, sizeof(buffer));
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return failure(errno, path);
		if (length == 0)
			break;
		text.append(buffer, static_cast<size_t>(length));
	}
	return text;
}

std::vector<int> list_processes()
{
	std::vector<int> pids;
	Dir dir(opendir("/proc"));
	if (!dir)
		return pids;
	while (const dirent *entry = readdir(dir.get()))
		if (auto pid = parse_number<int>(entry->d_name))
			pids.push_back(*pid);
	return pids;
}

ProcessName name_process(int pid)
{
	const std::string base = "/proc/" + std::to_string(pid);
	ProcessName name;
	name.comm = read_file(base + "/comm").value_or("");
	if (name.comm.ends_with('\n'))
		name.comm.pop_back();
	name.unit = parse_cgroup(read_file(base + "/cgroup").value_or(""));
	return name;
}

Result<void> each_descriptor(int pid, const std::function<void(int, std::string_view)> &visit)
{
	const std::string path = "/proc/" + std::to_string(pid) + "/fd";
	Dir dir(opendir(path.c_str()));
	if (!dir)
		return failure(errno, path);

	while (const dirent *entry = readdir(dir.get())) {
		auto fd = parse_number<int>(entry->d_name);
		if (!fd)
			continue;
		char link[64];	/* what we look for is shorter; a longer path is cut */
		const ssize_t length = readlinkat(dirfd(dir.get()), entry->d_name, link, sizeof(link));
		if (length > 0)
			visit(*fd, {link, static_cast<size_t>(length)});
		else if (length < 0 && (errno == EACCES || errno == EPERM))
			/* root may list anybody's numbers; what they are takes more (fs/proc/base.c) */
			return failure(errno, path);
	}
	return {};
}

} // namespace rxstall
