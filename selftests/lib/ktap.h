// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that report in KTAP (Documentation/dev-tools/ktap.rst). A program is a
 * table of tests handed to ktap_main(). Each test runs in a process of its own,
 * in a new network namespace, so that none sees what another does, and several
 * run at a time: most of a test is waiting. It fails by throwing: an expectation
 * that does not hold, or a call that did not work.
 */
#pragma once

#include <functional>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace selftest {

/** What of the patch set a test cannot do without. */
enum class Needs {
	nothing,
	purge_sysctl,	/**< net.ipv4.tcp_purge_receive_queue */
	stalled_event,	/**< page_pool:page_pool_release_stalled */
};

struct Test {
	std::string name;
	Needs needs;
	std::function<void()> run;
	/** It must pass without the patches too: what it shows did not change. */
	bool same_without = false;
	/** It looks at what all tests change together: nothing runs beside it. */
	bool alone = false;
	int timeout_s = 60;
};

/**
 * Runs the tests and returns the program's exit status: 0 all passed, 1 one
 * failed, 4 all skipped, 2 bad usage.
 *
 * Arguments: --list; --only PART runs the tests with PART in their name;
 * --unpatched is for a kernel without the patches: all tests run there, each
 * that needs them must fail unless it says same_without, and is reported ok if
 * it does. Otherwise such a test is skipped on such a kernel.
 */
int ktap_main(int argc, char **argv, const std::vector<Test> &tests);

/** Thrown by a test that cannot run here; the text is the reason. */
struct Skip : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/** Thrown by an expectation that does not hold. */
struct Unmet : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/** Prints a diagnostic line of the running test. */
void note(const std::string &text);

/** Throws Unmet, naming @what and the caller's line, unless @held. */
inline void expect(bool held, const std::string &what,
		   std::source_location at = std::source_location::current())
{
	if (!held)
		throw Unmet("line " + std::to_string(at.line()) + ": " + what);
}

/** Throws Unmet with both values unless @actual equals @expected. */
template <class A, class E>
void expect_eq(const A &actual, const E &expected, const std::string &what,
	       std::source_location at = std::source_location::current())
{
	if (actual == expected)
		return;
	std::ostringstream text;
	text << what << " is " << actual << ", expected " << expected;
	expect(false, text.str(), at);
}

} // namespace selftest
