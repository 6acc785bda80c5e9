// SPDX-License-Identifier: GPL-2.0
#include "service.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "text.h"

namespace rxstall {

namespace {

/* A datagram socket to that path; '@' in front means the abstract namespace. */
Fd connect_to(const char *path)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	const size_t length = std::strlen(path);
	if (length == 0 || length >= sizeof(address.sun_path))
		return {};
	std::memcpy(address.sun_path, path, length);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr *>(&address),
			   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length)) != 0)
		return {};
	return fd;
}

bool send_all(const Fd &fd, const std::string &text)
{
	return fd && send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::string environment(const char *name)
{
	const char *value = std::getenv(name);
	return value ? value : "";
}

/* Is standard error the stream that systemd gave us, and not redirected since? */
bool stderr_is_journal()
{
	struct stat status{};
	return fstat(STDERR_FILENO, &status) == 0 &&
	       environment("JOURNAL_STREAM") == fmt::format("{}:{}", status.st_dev, status.st_ino);
}

} // namespace

Notify::Notify() : fd_(connect_to(environment("NOTIFY_SOCKET").c_str()))
{
	const std::string owner = environment("WATCHDOG_PID");
	const auto interval = parse_number<uint64_t>(environment("WATCHDOG_USEC"));
	if (interval && (owner.empty() || owner == std::to_string(getpid())))
		alive_every_ = static_cast<double>(*interval) / 2e6;
}

void Notify::say(const std::string &text) const
{
	send_all(fd_, text);
}

std::string journal_entry(Level level, const std::string &message, const Fields &fields)
{
	std::string entry = fmt::format("PRIORITY={}\nSYSLOG_IDENTIFIER=rxstall\n", static_cast<int>(level));
	auto add = [&entry](const std::string &name, const std::string &value) {
		/* a length of 8 bytes, little endian, lets the value hold any byte */
		entry += name + '\n';
		for (unsigned byte = 0; byte < 8; byte++)
			entry += static_cast<char>(static_cast<uint64_t>(value.size()) >> 8 * byte & 0xff);
		entry += value + '\n';
	};
	add("MESSAGE", message);
	for (const auto &[name, value] : fields)
		add(name, value);
	return entry;
}

Log::Log()
{
	if (stderr_is_journal())
		journal_ = connect_to("/run/systemd/journal/socket");
}

void Log::say(Level level, const std::string &message, const Fields &fields) const
{
	if (!send_all(journal_, journal_entry(level, message, fields)))
		fmt::print(stderr, "rxstall: {}\n", escape(message));
}

} // namespace rxstall
