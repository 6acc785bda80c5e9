// SPDX-License-Identifier: GPL-2.0
/*
 * Random segments against random calls, on several CPUs, with the contract of
 * net.ipv4.tcp_purge_receive_queue as the judge. A sequence is one connection
 * from its handshake to its end, all of it made from one number:
 *
 *	storm --seed 1 --sequences 3000		numbers 1 to 3000
 *	storm --seed 1234 --sequences 1		the one that failed, again
 *
 * Every thousand sequences are one test.
 */
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/netns.h"
#include "storm_play.h"

namespace {

using namespace storm;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int usage = 2;
constexpr std::uint64_t batch_most = 1000;
/* Leaves room above it for the sequences that follow. */
constexpr std::uint64_t most_seed = std::uint64_t{1} << 62;
/* Ten times what a kernel with KASAN takes in an emulated machine. */
constexpr int batch_timeout_s = 600;

struct Options {
	std::uint64_t seed = 1;
	std::uint64_t sequences = 3000;
	int seconds = 0;
	int jobs = 0;
};

/** Some sequences, shared out to workers, each in a namespace of its own. */
class Batch {
public:
	Batch(std::uint64_t first, std::uint64_t count, seconds duration)
		: next_(first), end_(first + count),
		  deadline_(steady_clock::now() + duration), timed_(duration.count())
	{
	}

	/** Throws Unmet, after a report, if a sequence failed. */
	Tally run(int jobs)
	{
		{
			std::vector<std::jthread> workers;

			for (int i = 0; i < jobs; i++)
				workers.emplace_back([this] { work(); });
		}
		if (!failure_.empty())
			throw Unmet(failure_);
		return sum_;
	}

private:
	void work()
	try {
		const Netns netns = Netns::create();
		const auto inside = netns.enter();
		Bench bench;
		Tally sum;

		while (!stop_ && (!timed_ || steady_clock::now() < deadline_)) {
			const std::uint64_t seed = next_++;

			if (seed >= end_)
				break;
			one(bench, seed, sum);
		}
		const std::lock_guard lock(mutex_);

		sum_ += sum;
	} catch (const std::exception &error) {
		report({}, error.what());
	}

	void one(Bench &bench, std::uint64_t seed, Tally &sum)
	{
		const Script script = script_of(seed);

		try {
			sum += play(bench, script);
		} catch (const std::exception &error) {
			report(describe(script),
			       fmt::format("sequence {}: {}; again with --seed "
					   "{} --sequences 1",
					   seed, error.what(), seed));
		}
	}

	/* The first failure counts; what came of it elsewhere says less. */
	void report(const std::vector<std::string> &lines, const std::string &what)
	{
		const std::lock_guard lock(mutex_);

		if (stop_.exchange(true))
			return;
		for (const std::string &line : lines)
			note(line);
		failure_ = what;
	}

	std::atomic<std::uint64_t> next_;
	std::uint64_t end_;
	steady_clock::time_point deadline_;
	bool timed_;
	std::atomic<bool> stop_ = false;
	std::mutex mutex_;
	std::string failure_;
	Tally sum_;
};

/*
 * Buffer memory goes back to what it was; each CPU may keep a little for itself
 * (SK_MEMORY_PCPU_RESERVE). The figures are the whole machine's: where others
 * have TCP sockets, too, they tell nothing.
 */
void expect_memory_back(const Sockstat &before)
{
	constexpr std::int64_t pages_per_cpu = 256;
	const auto spare = pages_per_cpu * ::sysconf(_SC_NPROCESSORS_CONF);
	const auto until = steady_clock::now() + seconds(10);
	Sockstat after = Sockstat::read();

	while ((after.alloc > before.alloc || after.mem > before.mem + spare) &&
	       steady_clock::now() < until) {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		after = Sockstat::read();
	}
	if (before.alloc != after.alloc) {
		note(fmt::format("sockstat not compared: {} sockets before, {} now",
				 before.alloc, after.alloc));
		return;
	}
	expect(after.mem <= before.mem + spare,
	       fmt::format("sockstat mem is back: {} before, {} now",
			   before.mem, after.mem));
}

void batch(const Options &options, std::uint64_t first, std::uint64_t count)
{
	const Sockstat before = Sockstat::read();
	const Tally tally = Batch(first, count, seconds(options.seconds))
				    .run(options.jobs);

	note(fmt::format("{} sequences from {} on, {} racing: {} resets, {} "
			 "queues purged ({} unread, {} before accept), {} kept",
			 tally.sequences, first, tally.racing, tally.resets,
			 tally.purged, tally.unread, tally.accept_queue,
			 tally.kept));
	if (options.seconds)
		expect(tally.sequences > 0, "sequences were played");
	else
		expect_eq(tally.sequences, count, "sequences played");
	/* So many must have been everywhere, or they prove nothing. */
	if (tally.sequences >= batch_most)
		expect(tally.resets && tally.purged > tally.unread &&
			       tally.unread && tally.accept_queue && tally.kept &&
			       tally.racing,
		       "every kind of ending was seen");
	expect_memory_back(before);
}

std::vector<Test> tests_for(const Options &options)
{
	std::vector<Test> tests;
	const auto add = [&](std::string name, std::uint64_t first,
			     std::uint64_t count, int timeout_s) {
		tests.push_back({.name = std::move(name),
				 .needs = Needs::purge_sysctl,
				 .run = [=] { batch(options, first, count); },
				 .alone = true,
				 .timeout_s = timeout_s});
	};

	if (options.seconds) {
		add(fmt::format("seed_{}/{}_seconds", options.seed, options.seconds),
		    options.seed, ~std::uint64_t{0} - options.seed,
		    options.seconds + batch_timeout_s);
		return tests;
	}
	for (std::uint64_t done = 0; done < options.sequences; done += batch_most) {
		const auto count = std::min(batch_most, options.sequences - done);

		add(fmt::format("seeds_{}_to_{}", options.seed + done,
				options.seed + done + count - 1),
		    options.seed + done, count,
		    batch_timeout_s);
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	CLI::App app("Random segments against random calls; other arguments as of "
		     "every test program: --list, --only PART, --unpatched");

	app.allow_extras();
	app.add_option("--seed", options.seed, "The number of the first sequence")
		->check(CLI::Range(std::uint64_t{0}, most_seed));
	app.add_option("--sequences", options.sequences, "How many sequences")
		->check(CLI::Range(1, 100000000));
	app.add_option("--seconds", options.seconds,
		       "Go on for so long instead, whatever --sequences says")
		->check(CLI::Range(1, 1000000));
	app.add_option("--jobs", options.jobs,
		       "Connections at a time; two for each CPU without")
		->check(CLI::Range(1, 1000));
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? usage : 0;
	}
	if (!options.jobs)
		options.jobs = 2 * static_cast<int>(std::max(
					   1U, std::thread::hardware_concurrency()));

	std::vector<std::string> rest = app.remaining();
	std::vector<char *> arguments{argv[0]};

	for (std::string &argument : rest)
		arguments.push_back(argument.data());
	return ktap_main(static_cast<int>(arguments.size()), arguments.data(),
			 tests_for(options));
}
