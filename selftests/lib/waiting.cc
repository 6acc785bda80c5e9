// SPDX-License-Identifier: GPL-2.0
#include "waiting.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

#include "checked.h"
#include "ktap.h"

namespace selftest {

namespace {

constexpr std::chrono::seconds patience{10};

/* The state letter follows the command, which may have spaces, in brackets. */
bool asleep(pid_t thread)
{
	std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
	std::string line;

	std::getline(file, line);
	const auto bracket = line.rfind(')');

	return bracket != std::string::npos &&
	       line.compare(bracket, 3, ") S") == 0;
}

std::size_t page_size()
{
	return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/** A page that makes whoever reads it wait. */
void *withhold_page(int faults)
{
	uffdio_api api{UFFD_API, 0, 0};
	uffdio_register range{};
	void *const page = ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		fail(errno, "mmap");
	range.range = {reinterpret_cast<std::uintptr_t>(page), page_size()};
	range.mode = UFFDIO_REGISTER_MODE_MISSING;
	check(::ioctl(faults, UFFDIO_API, &api), "UFFDIO_API");
	check(::ioctl(faults, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	return page;
}

unique_fd open_userfaultfd()
{
	unique_fd fd(static_cast<int>(
		::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));

	if (!fd)
		throw Skip("userfaultfd, to hold a socket locked: " +
			   errno_name(errno));
	return fd;
}

} // namespace

void make_blocking(int fd)
{
	const int flags = check(::fcntl(fd, F_GETFL), "F_GETFL");

	check(::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK), "F_SETFL");
}

Waiting::Waiting(std::function<Outcome()> call)
{
	std::promise<pid_t> id;
	std::promise<Outcome> result;
	auto known = id.get_future();

	outcome_ = result.get_future();
	thread_ = std::thread([call = std::move(call), id = std::move(id),
			       result = std::move(result)]() mutable {
		sigpipes_seen();
		id.set_value(::gettid());
		result.set_value(call());
	});

	const pid_t thread = known.get();
	const auto end = std::chrono::steady_clock::now() + patience;

	while (!asleep(thread)) {
		if (std::chrono::steady_clock::now() > end)
			throw std::runtime_error("the call does not block");
		::poll(nullptr, 0, 1);
	}
}

Waiting::~Waiting()
{
	/* A thread still asleep goes with the process, at the latest. */
	if (outcome_.valid() &&
	    outcome_.wait_for(patience) != std::future_status::ready)
		thread_.detach();
	if (thread_.joinable())
		thread_.join();
}

Outcome Waiting::outcome()
{
	if (outcome_.wait_for(patience) != std::future_status::ready)
		throw std::runtime_error("the call still blocks");
	return outcome_.get();
}

Locked::Locked(int socket)
	: faults_(open_userfaultfd()), page_(withhold_page(faults_.get()))
{
	sender_ = std::thread([socket, page = page_] {
		(void)::send(socket, page, 1, MSG_NOSIGNAL);
	});

	pollfd waiting{faults_.get(), POLLIN, 0};

	if (check(::poll(&waiting, 1, 5000), "poll userfaultfd") == 0)
		throw std::runtime_error("send() does not touch the page");
}

Locked::~Locked()
{
	uffdio_zeropage zero{};

	zero.range = {reinterpret_cast<std::uintptr_t>(page_), page_size()};
	(void)::ioctl(faults_.get(), UFFDIO_ZEROPAGE, &zero);
	sender_.join();
	::munmap(page_, page_size());
}

} // namespace selftest
