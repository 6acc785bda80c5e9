// SPDX-License-Identifier: GPL-2.0
/*
 * A descriptor that is closed exactly once: by its owner's destructor, or
 * earlier by reset(). Move-only, so that no two owners can close the same
 * number.
 */
#pragma once

#include <unistd.h>

#include <utility>

namespace selftest {

class unique_fd {
public:
	unique_fd() = default;
	explicit unique_fd(int fd) noexcept : fd_(fd) {}
	unique_fd(unique_fd &&other) noexcept
		: fd_(std::exchange(other.fd_, -1)) {}
	unique_fd &operator=(unique_fd &&other) noexcept
	{
		if (this != &other)
			reset(other.release());
		return *this;
	}
	unique_fd(const unique_fd &) = delete;
	unique_fd &operator=(const unique_fd &) = delete;
	~unique_fd() { reset(); }

	/** The number, -1 when nothing is owned. */
	[[nodiscard]] int get() const noexcept { return fd_; }
	explicit operator bool() const noexcept { return fd_ >= 0; }

	/** Gives the number away without closing it. */
	[[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

	/** Closes what is owned and owns @fd from now on. */
	void reset(int fd = -1) noexcept
	{
		if (fd_ >= 0)
			::close(fd_);
		fd_ = fd;
	}

private:
	int fd_ = -1;
};

} // namespace selftest
