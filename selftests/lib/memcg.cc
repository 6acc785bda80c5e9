// SPDX-License-Identifier: GPL-2.0
#include "memcg.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "checked.h"
#include "ktap.h"
#include "outcome.h"
#include "unique_fd.h"

namespace selftest {

namespace {

/** Returns 0 or an errno. */
int write_text(const std::string &path, const std::string &text)
{
	const unique_fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));

	if (!fd || ::write(fd.get(), text.data(), text.size()) < 0)
		return errno;
	return 0;
}

/** Whether @word is one of the words in the file. */
bool has_word(const std::string &path, const std::string &word)
{
	std::ifstream file(path);
	std::string each;

	while (file >> each)
		if (each == word)
			return true;
	return false;
}

/* The line of cgroup2 is "0::/path". */
std::string own_group()
{
	std::ifstream file("/proc/self/cgroup");
	std::string line;

	while (std::getline(file, line))
		if (line.starts_with("0::"))
			return line.substr(3);
	return "/";
}

std::string mount_privately()
{
	std::string root = "/tmp/cgroup.XXXXXX";

	if (::unshare(CLONE_NEWNS) ||
	    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		throw Skip("a mount namespace needs root: " + errno_name(errno));
	if (!::mkdtemp(root.data()))
		fail(errno, "mkdtemp");
	if (::mount("none", root.c_str(), "cgroup2", 0, nullptr)) {
		const int error = errno;

		::rmdir(root.c_str());
		throw Skip("cgroup2 cannot be mounted: " + errno_name(error));
	}
	return root;
}

} // namespace

MemoryCgroup::MemoryCgroup() : root_(mount_privately())
{
	const std::string children = root_ + "/cgroup.subtree_control";

	try {
		if (!has_word(root_ + "/cgroup.controllers", "memory"))
			throw Skip("cgroup2 has no memory controller here");
		if (!has_word(children, "memory"))
			enabled_ = write_text(children, "+memory") == 0;
		before_ = root_ + own_group();
		group_ = root_ + "/rxpurge." + std::to_string(::getpid());
		check(::mkdir(group_.c_str(), 0700), group_.c_str());
		if (const int error = write_text(group_ + "/cgroup.procs", "0"))
			fail(error, "moving into the control group");
	} catch (...) {
		remove();
		throw;
	}
}

MemoryCgroup::~MemoryCgroup()
{
	remove();
}

void MemoryCgroup::remove() noexcept
{
	if (!group_.empty()) {
		(void)write_text(before_ + "/cgroup.procs", "0");
		::rmdir(group_.c_str());
	}
	if (enabled_)
		(void)write_text(root_ + "/cgroup.subtree_control", "-memory");
	::umount(root_.c_str());
	::rmdir(root_.c_str());
}

std::int64_t MemoryCgroup::socket_bytes() const
{
	std::ifstream file(group_ + "/memory.stat");
	std::string name;
	std::int64_t value = 0;

	while (file >> name >> value)
		if (name == "sock")
			return value;
	throw std::runtime_error("memory.stat has no line sock");
}

} // namespace selftest
