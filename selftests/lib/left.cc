// SPDX-License-Identifier: GPL-2.0
#include "left.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace selftest {

namespace {

const std::string instances = "/sys/kernel/tracing/instances";
const std::string netdevsim = "/sys/bus/netdevsim/";

std::string prefix_of(pid_t pid)
{
	return "purge." + std::to_string(pid) + ".";
}

} // namespace

std::string trace_instance_template()
{
	return instances + "/" + prefix_of(::getpid()) + "XXXXXX";
}

std::string netdevsim_id()
{
	return std::to_string(::getpid());
}

void remove_left_by(pid_t child) noexcept
try {
	const std::string id = std::to_string(child);
	std::error_code error;

	for (const auto &entry :
	     std::filesystem::directory_iterator(instances, error))
		if (entry.path().filename().string().starts_with(prefix_of(child)))
			::rmdir(entry.path().c_str());
	if (std::filesystem::exists(netdevsim + "devices/netdevsim" + id, error))
		std::ofstream(netdevsim + "del_device") << id;
} catch (...) {
	/* What stays carries the process id of a program that has ended. */
}

} // namespace selftest
