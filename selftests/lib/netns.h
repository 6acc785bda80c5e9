// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces for tests. They have no name in the file system: one goes
 * away with the last process, socket or descriptor in it, so a test that dies
 * leaves nothing behind.
 */
#pragma once

#include "unique_fd.h"

namespace selftest {

/**
 * Moves the calling thread into a new network namespace with lo up. Without
 * CAP_SYS_ADMIN a new user namespace is made first, in which the caller is
 * root. Call it before the first thread is started: unshare(CLONE_NEWUSER)
 * refuses otherwise.
 *
 * Throws std::system_error; where user namespaces are switched off its text
 * says so.
 */
void enter_new_netns();

/** A network namespace held by a descriptor. */
class Netns {
public:
	/** The namespace the calling thread is in. */
	static Netns current();

	/**
	 * A new one with lo up; the caller stays where it is. Needs
	 * CAP_SYS_ADMIN in the caller's user namespace, which it has after
	 * enter_new_netns().
	 */
	static Netns create();

	/** Puts the calling thread back where it was when destroyed. */
	class [[nodiscard]] Scope {
	public:
		explicit Scope(const Netns &target);
		~Scope();
		Scope(const Scope &) = delete;
		Scope &operator=(const Scope &) = delete;

	private:
		unique_fd before_;
	};

	/** Moves the calling thread in until the returned guard is gone. */
	Scope enter() const { return Scope(*this); }

	[[nodiscard]] int fd() const { return fd_.get(); }

private:
	explicit Netns(unique_fd fd) : fd_(std::move(fd)) {}

	unique_fd fd_;
};

} // namespace selftest
