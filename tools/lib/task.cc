// SPDX-License-Identifier: GPL-2.0
#include "task.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rxstall {

namespace {

double seconds(const timeval &time)
{
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Result<std::string> outcome(const std::function<Result<std::string>()> &work)
{
	try {
		return work();
	} catch (const std::exception &fault) {
		return failure(fault.what());
	}
}

[[noreturn]] void child(int pipe, pid_t parent, const std::function<Result<std::string>()> &work)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	const auto result = outcome(work);
	const std::string &text = result ? *result : result.error().text;
	size_t done = 0;
	while (done < text.size()) {
		const ssize_t length = write(pipe, text.data() + done, text.size() - done);
		if (length < 0 && errno != EINTR)
			_exit(1);
		done += length > 0 ? static_cast<size_t>(length) : 0;
	}
	_exit(result ? 0 : 1);	/* no destructor: what the parent owns is the parent's to tidy */
}

} // namespace

Result<Task> Task::start(const std::function<Result<std::string>()> &work)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return failure(errno, "pipe");
	Fd read_end(ends[0]), write_end(ends[1]);
	fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
	const pid_t parent = getpid();
	const pid_t pid = fork();
	if (pid < 0)
		return failure(errno, "fork");
	if (pid == 0)
		child(write_end.get(), parent, work);
	return Task(pid, std::move(read_end));
}

Task::Task(Task &&other) noexcept
	: pid_(std::exchange(other.pid_, -1)), pipe_(std::move(other.pipe_)),
	  text_(std::move(other.text_)), cost_(other.cost_)
{
}

Task::~Task()
{
	if (pid_ < 0)
		return;
	kill(pid_, SIGKILL);
	(void)reap();
}

int Task::reap()
{
	int status = -1;
	rusage usage{};
	while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR)
		;
	cost_ = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	pid_ = -1;
	return status;
}

bool Task::read()
{
	char buffer[16 * 1024];
	for (;;) {
		const ssize_t length = ::read(pipe_.get(), buffer, sizeof(buffer));
		if (length > 0)
			text_.append(buffer, static_cast<size_t>(length));
		else if (length == 0 || (errno != EINTR && errno != EAGAIN))
			return true;
		else if (errno == EAGAIN)
			return false;
	}
}

Result<std::string> Task::finish()
{
	const int status = reap();
	if (WIFSIGNALED(status))
		return failure("the scan was ended by signal " + std::to_string(WTERMSIG(status)));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return failure("the scan failed" + (text_.empty() ? "" : ": " + text_));
	return std::move(text_);
}

} // namespace rxstall
