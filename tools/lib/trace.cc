// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "text.h"

namespace rxstall {

namespace {

constexpr const char *mount_point = "/sys/kernel/tracing";
constexpr std::string_view prefix = "rxstall-";

/* Where tracefs is; mounted for ourselves only if it is nowhere. */
Result<std::string> tracefs_path()
{
	std::error_code error;
	for (const char *path : {mount_point, "/sys/kernel/debug/tracing"})
		if (std::filesystem::exists(std::string(path) + "/instances", error))
			return path;
	if (!std::filesystem::exists(mount_point, error))
		return failure(ENODEV, "tracefs");
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
	    mount("tracefs", mount_point, "tracefs", 0, nullptr) != 0)
		return failure(errno, "tracefs");
	return mount_point;
}

void remove_abandoned(const std::string &instances)
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(instances, error)) {
		const std::string name = entry.path().filename();
		if (!name.starts_with(prefix))
			continue;
		const auto pid = parse_number<int>(std::string_view(name).substr(prefix.size()));
		if (pid && kill(*pid, 0) != 0 && errno == ESRCH)
			rmdir(entry.path().c_str());
	}
}

} // namespace

Trace::Instance::~Instance()
{
	if (parent_)
		unlinkat(parent_.get(), std::filesystem::path(path_).filename().c_str(), AT_REMOVEDIR);
}

bool Trace::Instance::write(const std::string &file, const std::string &text) const
{
	Fd fd(::open((path_ + "/" + file).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
	return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Result<Trace> Trace::open()
{
	auto tracefs = tracefs_path();
	if (!tracefs)
		return tl::unexpected(tracefs.error());
	const std::string instances = *tracefs + "/instances/";
	remove_abandoned(instances);

	const std::string path = instances + std::string(prefix) + std::to_string(getpid());
	Fd parent(::open(instances.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (!parent || mkdir(path.c_str(), 0700) != 0)
		return failure(errno, "tracefs instance");
	Instance instance(std::move(parent), path);
	/* process names stay out of the lines, and poll() wakes for the first of them */
	if (!instance.write("trace_options", "nocontext-info"))
		return failure(errno, "tracefs option nocontext-info");
	instance.write("buffer_percent", "0");
	instance.write("buffer_size_kb", "256");
	Fd pipe(::open((path + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	if (!pipe)
		return failure(errno, "trace_pipe");
	Trace trace(std::move(instance), std::move(pipe));
	trace.watch_switch("tracing_on");
	return trace;
}

bool Trace::enable(const char *system, const char *event, const char *filter)
{
	const std::string base = std::string("events/") + system + "/" + event;
	if (filter && !instance_.write(base + "/filter", filter))
		return false;
	if (!instance_.write(base + "/enable", "1"))
		return false;
	watch_switch(base + "/enable");
	return true;
}

void Trace::watch_switch(const std::string &file)
{
	Fd fd(::open((instance_.path() + "/" + file).c_str(), O_RDONLY | O_CLOEXEC));
	if (fd)
		switches_.push_back(std::move(fd));
}

bool Trace::on() const
{
	return std::all_of(switches_.begin(), switches_.end(), [](const Fd &fd) {
		char value = 0;
		return pread(fd.get(), &value, 1, 0) == 1 && value == '1';
	});
}

std::vector<std::string> Trace::read_lines()
{
	std::vector<std::string> lines;
	char buffer[16 * 1024];
	for (;;) {
		const ssize_t length = read(pipe_.get(), buffer, sizeof(buffer));
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			break;
		rest_.append(buffer, static_cast<size_t>(length));
		size_t start = 0;
		for (size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1)
			lines.push_back(rest_.substr(start, end - start));
		rest_.erase(0, start);
	}
	return lines;
}

} // namespace rxstall
