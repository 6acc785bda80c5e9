// SPDX-License-Identifier: GPL-2.0
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include "lib/privilege.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

using namespace rxstall;

namespace {

struct Verb {
	std::string_view name;
	int (*run)(int argc, char **argv);
	std::vector<cap_value_t> needs;
	std::string_view help;
};

/*
 * The capabilities: borrowing takes SYS_PTRACE, reading others' /proc
 * DAC_READ_SEARCH, entering a namespace SYS_ADMIN, the namespace behind a
 * descriptor NET_ADMIN, the iterator BPF and PERFMON, the log SYSLOG.
 */
const std::vector<cap_value_t> finding = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN,
					  CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON};
const std::vector<cap_value_t> reading = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN,
					  CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON, CAP_SYSLOG};
const std::vector<cap_value_t> entering = {CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_NET_ADMIN};

const std::array verbs = {
	Verb{"sockets", verb_sockets, finding,
	     "sockets whose connection is over and that still hold receive memory"},
	Verb{"pools", verb_pools, reading,
	     "page pools whose pages never came back, and who may hold them"},
	Verb{"watch", verb_watch, reading, "a line when a connection dies with data or a pool stalls"},
	Verb{"release", verb_release, finding, "free that memory (shows what it would do; --apply does it)"},
	Verb{"destroy", verb_destroy, finding, "end connections whose peer is silent (shows them; --apply does it)"},
	Verb{"guard", verb_guard, reading, "a service that does so as they turn up, or sets the sysctl everywhere"},
	Verb{"sysctl", verb_sysctl, entering,
	     "show or set net.ipv4.tcp_purge_receive_queue in every namespace"},
	Verb{"doctor", verb_doctor, reading, "what is there, what is missing, and a verdict"},
	Verb{"metrics", verb_metrics, reading, "the same for Prometheus, or for node_exporter's textfiles"},
	Verb{"snapshot", verb_snapshot, reading, "save all facts, for --from on another machine"},
};

std::string usage()
{
	std::string text = "usage: rxstall VERB [OPTIONS] [FILTER]\n\n";
	for (const Verb &verb : verbs)
		text += fmt::format("  {:<9} {}\n", verb.name, verb.help);
	return text + "\n`rxstall VERB --help` lists a verb's options; rxstall(8) explains them.\n";
}

int run(const Verb &verb, int argc, char **argv)
{
	keep_only(verb.needs);
	try {
		return verb.run(argc, argv);
	} catch (const Usage &wrong) {
		fmt::print(stderr, "rxstall {}: {}\nTry `rxstall {} --help`.\n", verb.name,
			   escape(wrong.text), verb.name);
		return exit_usage;
	} catch (const std::exception &error) {
		return fail({0, escape(error.what())});
	}
}

} // namespace

int main(int argc, char **argv)
{
	/* a reader that goes away must not end us before we have tidied up */
	std::signal(SIGPIPE, SIG_IGN);

	const std::string_view word = argc > 1 ? argv[1] : "";
	if (word == "--help" || word == "-h" || word == "help")
		return print(usage());
	if (word == "--version" || word == "-V")
		return print("rxstall " RXSTALL_VERSION "\n");
	for (const Verb &verb : verbs)
		if (verb.name == word)
			return run(verb, argc - 1, argv + 1);

	if (!word.empty())
		fmt::print(stderr, "rxstall: no verb '{}'\n", escape(word));
	fmt::print(stderr, "{}", usage());
	return exit_usage;
}
