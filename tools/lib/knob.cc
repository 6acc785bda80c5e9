// SPDX-License-Identifier: GPL-2.0
#include "knob.h"

#include <cerrno>
#include <fcntl.h>

#include "proc.h"
#include "text.h"

namespace rxstall {

namespace {

constexpr const char *path = "/proc/sys/net/ipv4/tcp_purge_receive_queue";

} // namespace

std::optional<int> read_purge()
{
	auto text = read_file(path, 16);
	if (!text)
		return std::nullopt;
	const auto words = split_words(*text);
	return words.empty() ? std::nullopt : parse_number<int>(words.front());
}

Result<Fd> open_purge()
{
	Fd fd(open(path, O_RDWR | O_CLOEXEC));
	if (!fd)
		return failure(errno, path);
	return fd;
}

Result<void> write_purge(int fd, int value)
{
	const std::string text = std::to_string(value);
	if (pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
		return failure(errno, path);
	return {};
}

} // namespace rxstall
