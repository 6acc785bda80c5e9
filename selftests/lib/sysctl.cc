// SPDX-License-Identifier: GPL-2.0
#include "sysctl.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "checked.h"
#include "unique_fd.h"

namespace selftest {

namespace {

std::string path_of(std::string_view name)
{
	std::string path = "/proc/sys/" + std::string(name);

	std::replace(path.begin() + 10, path.end(), '.', '/');
	return path;
}

} // namespace

std::optional<std::string> sysctl_read(std::string_view name)
{
	const std::string path = path_of(name);
	unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	std::array<char, 4096> text;

	if (!fd) {
		if (errno == ENOENT)
			return std::nullopt;
		fail(errno, path);
	}
	const ssize_t n = check(::read(fd.get(), text.data(), text.size()),
				path.c_str());
	std::string value(text.data(), static_cast<std::size_t>(n));

	if (value.ends_with('\n'))
		value.pop_back();
	return value;
}

int sysctl_write(std::string_view name, std::string_view value)
{
	unique_fd fd(::open(path_of(name).c_str(), O_WRONLY | O_CLOEXEC));

	if (!fd)
		return errno;
	return ::write(fd.get(), value.data(), value.size()) < 0 ? errno : 0;
}

} // namespace selftest
