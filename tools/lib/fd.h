/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file descriptor with one owner: it is closed when the owner goes, and it
 * can be moved but not copied.
 */
#pragma once

#include <unistd.h>
#include <utility>

namespace rxstall {

class [[nodiscard]] Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	Fd(const Fd &) = delete;
	Fd &operator=(const Fd &) = delete;
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept
	{
		if (this != &other) {
			close();
			fd_ = std::exchange(other.fd_, -1);
		}
		return *this;
	}
	~Fd() { close(); }

	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }

	/* Gives the descriptor away: the caller closes it. */
	[[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
	void close()
	{
		if (fd_ >= 0)
			::close(fd_);
		fd_ = -1;
	}

	int fd_ = -1;
};

} // namespace rxstall
