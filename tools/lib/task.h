/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that may take long, in a child process: it can be ended at any
 * moment, its memory goes with it, and a crash is only its own.
 */
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "fd.h"
#include "result.h"

namespace rxstall {

class [[nodiscard]] Task {
public:
	/*
	 * Runs work in a child; its text, or that of its error, arrives here. The child
	 * dies with its parent. For single-threaded programs. Errors: fork's, pipe's.
	 */
	static Result<Task> start(const std::function<Result<std::string>()> &work);

	Task(const Task &) = delete;
	Task &operator=(const Task &) = delete;
	Task(Task &&other) noexcept;
	Task &operator=(Task &&) = delete;
	/* Ends the child, if it has not ended. */
	~Task();

	/* For poll(2): readable when there is text or the child has ended. */
	int fd() const { return pipe_.get(); }

	/* Takes what has come; true once the child has ended. */
	bool read();

	/* After read() said true: the whole text, or how and why the child failed. */
	Result<std::string> finish();

	/* CPU seconds of the child, once finished. */
	double cost() const { return cost_; }

private:
	Task(pid_t pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}
	/* Waits for the child; its status, or -1. */
	int reap();

	pid_t pid_ = -1;
	Fd pipe_;
	std::string text_;
	double cost_ = 0;
};

} // namespace rxstall
