// SPDX-License-Identifier: GPL-2.0
#include "ktap.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "checked.h"
#include "left.h"
#include "netns.h"
#include "sysctl.h"
#include "trace.h"

namespace selftest {

namespace {

enum Status { passed = 0, failed = 1, usage = 2, skipped = 4 };

struct Options {
	bool list = false;
	bool unpatched = false;
	std::string only;
};

const char *missing(Needs needs)
{
	switch (needs) {
	case Needs::purge_sysctl:
		return sysctl_read(purge_sysctl)
			? nullptr
			: "this kernel has no net.ipv4.tcp_purge_receive_queue";
	case Needs::stalled_event:
		return Trace::has_event("page_pool", "page_pool_release_stalled")
			? nullptr
			: "this kernel has no page_pool:page_pool_release_stalled";
	case Needs::nothing:
		break;
	}
	return nullptr;
}

/* One line, whatever the text has in it: KTAP is line by line. */
std::string one_line(std::string text)
{
	for (char &c : text)
		if (static_cast<unsigned char>(c) < ' ')
			c = ' ';
	return text;
}

/* In the child. The reason of a skip goes through @reason. */
int run_child(const Test &test, bool unpatched, int reason)
{
	try {
		enter_new_netns();
		if (!unpatched)
			if (const char *why = missing(test.needs))
				throw Skip(why);
		test.run();
		return passed;
	} catch (const Skip &skip) {
		const std::string why = one_line(skip.what());

		check(::write(reason, why.data(), why.size()), "write");
		return skipped;
	} catch (const std::exception &error) {
		note(test.name + ": " + error.what());
		return failed;
	}
}

struct Verdict {
	Status status;
	std::string reason{};
	bool killed = false;	/* by its time limit, or by a crash */
};

/** A test under way: its process, and where the reason of a skip comes from. */
struct Running {
	const Test *test;
	unique_fd reason;
};

/** What the parent waits for: the end of a child, or being told to end. */
sigset_t awaited_signals()
{
	sigset_t signals;

	sigemptyset(&signals);
	for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
		sigaddset(&signals, signal);
	return signals;
}

Running start(const Test &test, bool unpatched, pid_t &child)
{
	int ends[2];

	check(::pipe2(ends, O_CLOEXEC), "pipe2");
	unique_fd reader(ends[0]), writer(ends[1]);

	std::fflush(nullptr);
	child = check(::fork(), "fork");
	if (!child) {
		const sigset_t blocked = awaited_signals();

		::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
		::alarm(static_cast<unsigned>(test.timeout_s));
		const int status = run_child(test, unpatched, writer.get());

		std::fflush(nullptr);
		::_exit(status);
	}
	return {&test, std::move(reader)};
}

Verdict verdict_of(const Running &running, int status)
{
	const std::string &name = running.test->name;

	if (WIFSIGNALED(status)) {
		note(name + ": ended by signal " + strsignal(WTERMSIG(status)));
		return {.status = failed, .killed = true};
	}
	if (WEXITSTATUS(status) != skipped)
		return {.status = WEXITSTATUS(status) == passed ? passed : failed};

	char why[512];
	const ssize_t n = check(::read(running.reason.get(), why, sizeof(why)),
				"read");

	return {.status = skipped,
		.reason = std::string(why, static_cast<std::size_t>(n))};
}

/*
 * A test that needs the patches proves something only if it fails here: by what
 * it saw. One that was killed saw nothing.
 */
Verdict unpatched_verdict(const Test &test, Verdict verdict)
{
	if (test.needs == Needs::nothing || test.same_without ||
	    verdict.status == skipped || verdict.killed)
		return verdict;
	if (verdict.status == failed)
		return {.status = passed};
	note(test.name + ": passes without the patches");
	return {.status = failed};
}

/** Runs the tests, a few at a time, and prints the results in their order. */
class Runner {
public:
	Runner(const std::vector<Test> &tests, bool unpatched)
		: tests_(tests), unpatched_(unpatched), verdicts_(tests.size())
	{
		::sigprocmask(SIG_BLOCK, &signals_, nullptr);
	}

	void run()
	{
		for (const Test &test : tests_) {
			const std::size_t most = test.alone ? 0 : at_once - 1;

			while (running_.size() > most)
				reap();

			pid_t child;
			Running running = start(test, unpatched_, child);

			running_.emplace(child, std::move(running));
			while (test.alone && !running_.empty())
				reap();
		}
		while (!running_.empty())
			reap();
	}

	[[nodiscard]] std::size_t count(Status status) const
	{
		std::size_t n = 0;

		for (const auto &verdict : verdicts_)
			n += verdict->status == status;
		return n;
	}

private:
	static constexpr std::size_t at_once = 8;

	/** Ends as the signal wants it, but leaves nothing behind. */
	[[noreturn]] void end(int signal)
	{
		for (const auto &running : running_) {
			::kill(running.first, SIGKILL);
			::waitpid(running.first, nullptr, 0);
			remove_left_by(running.first);
		}
		std::fflush(stdout);
		::signal(signal, SIG_DFL);
		::raise(signal);
		::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);
		::_exit(failed);
	}

	void reap()
	{
		int status = 0;
		pid_t child;

		while (!(child = check(::waitpid(-1, &status, WNOHANG), "waitpid"))) {
			const int signal = ::sigwaitinfo(&signals_, nullptr);

			if (signal > 0 && signal != SIGCHLD)
				end(signal);
		}

		const auto found = running_.find(child);

		if (found == running_.end())
			return;
		if (WIFSIGNALED(status))
			remove_left_by(child);
		const Test &test = *found->second.test;
		Verdict verdict = verdict_of(found->second, status);

		if (unpatched_)
			verdict = unpatched_verdict(test, verdict);
		verdicts_[static_cast<std::size_t>(&test - tests_.data())] = verdict;
		running_.erase(found);
		print_ready();
	}

	void print_ready()
	{
		for (; printed_ < tests_.size() && verdicts_[printed_]; printed_++) {
			const Verdict &verdict = *verdicts_[printed_];

			std::printf("%sok %zu %s%s%s\n",
				    verdict.status == failed ? "not " : "",
				    printed_ + 1, tests_[printed_].name.c_str(),
				    verdict.status == skipped ? " # SKIP " : "",
				    verdict.reason.c_str());
		}
		std::fflush(stdout);
	}

	const std::vector<Test> &tests_;
	bool unpatched_;
	const sigset_t signals_ = awaited_signals();
	std::vector<std::optional<Verdict>> verdicts_;
	std::map<pid_t, Running> running_;
	std::size_t printed_ = 0;
};

Options parse(int argc, char **argv)
{
	Options options;

	for (int i = 1; i < argc; i++) {
		const std::string arg = argv[i];

		if (arg == "--list")
			options.list = true;
		else if (arg == "--unpatched")
			options.unpatched = true;
		else if (arg == "--only" && i + 1 < argc)
			options.only = argv[++i];
		else
			throw std::invalid_argument(
				"unknown argument '" + one_line(arg) +
				"'; there are --list, --only PART and --unpatched");
	}
	return options;
}

int run_all(const std::vector<Test> &tests, bool unpatched)
{
	Runner runner(tests, unpatched);

	std::printf("TAP version 13\n1..%zu\n", tests.size());
	runner.run();
	std::printf("# Totals: pass:%zu fail:%zu xfail:0 xpass:0 skip:%zu error:0\n",
		    runner.count(passed), runner.count(failed),
		    runner.count(skipped));
	if (runner.count(failed))
		return failed;
	return runner.count(skipped) == tests.size() ? skipped : passed;
}

} // namespace

void note(const std::string &text)
{
	std::printf("# %s\n", one_line(text).c_str());
	std::fflush(stdout);
}

int ktap_main(int argc, char **argv, const std::vector<Test> &tests)
try {
	const Options options = parse(argc, argv);
	std::vector<Test> chosen;

	for (const Test &test : tests)
		if (test.name.find(options.only) != std::string::npos)
			chosen.push_back(test);
	if (chosen.empty())
		throw std::invalid_argument("no test has '" +
					    one_line(options.only) +
					    "' in its name; see --list");
	if (!options.list)
		return run_all(chosen, options.unpatched);
	for (const Test &test : chosen)
		std::printf("%s\n", test.name.c_str());
	if (std::fflush(stdout) || std::ferror(stdout))
		throw std::runtime_error("cannot write the list");
	return passed;
} catch (const std::invalid_argument &error) {
	std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
	return usage;
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
	return failed;
}

} // namespace selftest
