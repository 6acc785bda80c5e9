// SPDX-License-Identifier: GPL-2.0
/*
 * net.ipv4.tcp_purge_receive_queue as a sysctl: its values, its default, and
 * whose it is.
 */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/checked.h"
#include "lib/ktap.h"
#include "lib/netns.h"
#include "lib/outcome.h"
#include "lib/sysctl.h"

namespace {

using namespace selftest;

std::string value_here()
{
	return sysctl_read(purge_sysctl).value_or("absent");
}

void write_here(const std::string &value)
{
	expect_eq(errno_name(sysctl_write(purge_sysctl, value)), errno_name(0),
		  "writing " + value);
}

void default_is_off()
{
	expect_eq(value_here(), "0", "the value in a new namespace");
}

void takes_its_values()
{
	for (const char *value : {"1", "2", "0"}) {
		write_here(value);
		expect_eq(value_here(), value, "the value after writing it");
	}
}

void refuses_others()
{
	write_here("1");
	for (const char *value : {"3", "-1", "256", "257", "x", "0x3"}) {
		expect_eq(errno_name(sysctl_write(purge_sysctl, value)),
			  "EINVAL", std::string("writing ") + value);
		expect_eq(value_here(), "1", "the value after that");
	}
}

void belongs_to_the_namespace()
{
	const Netns other = Netns::create();

	write_here("1");
	{
		const auto inside = other.enter();

		expect_eq(value_here(), "0", "the value in another namespace");
		write_here("2");
	}
	expect_eq(value_here(), "1", "the value here");
}

void new_namespace_starts_at_0()
{
	write_here("2");
	const Netns later = Netns::create();
	const auto inside = later.enter();

	expect_eq(value_here(), "0", "the value in a later namespace");
}

/* In a child: a user namespace's root, first here, then in its own netns. */
int as_other_user()
{
	if (::setresgid(65534, 65534, 65534) || ::setresuid(65534, 65534, 65534))
		return 1;
	if (sysctl_write(purge_sysctl, "1") != EACCES)
		return 2;
	if (::unshare(CLONE_NEWUSER))
		return 3;
	/* Full capabilities now, but not over this network namespace. */
	if (sysctl_write(purge_sysctl, "1") != EACCES)
		return 4;
	if (::unshare(CLONE_NEWNET))
		return 5;
	if (sysctl_write(purge_sysctl, "1"))
		return 6;
	return sysctl_read(purge_sysctl) == "1" ? 0 : 7;
}

void user_namespace_sets_its_own()
{
	static const char *const steps[] = {
		"all went well",
		"could not become another user",
		"another user could set it",
		"could not make a user namespace",
		"root of a user namespace could set it in a foreign netns",
		"could not make a network namespace",
		"root of a user namespace could not set it in its own netns",
		"the value did not stay",
	};

	if (::geteuid())
		throw Skip("becoming another user needs root");
	write_here("2");
	const pid_t child = check(::fork(), "fork");

	if (!child)
		::_exit(as_other_user());

	int status = 0;

	check(::waitpid(child, &status, 0), "waitpid");
	const int step = WIFEXITED(status) ? WEXITSTATUS(status) : 1;

	if (step == 3)
		throw Skip("user namespaces are switched off");
	expect(step == 0, steps[step]);
	expect_eq(value_here(), "2", "the value here");
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, {
		{"default_is_off", Needs::purge_sysctl, default_is_off},
		{"takes_its_values", Needs::purge_sysctl, takes_its_values},
		{"refuses_others", Needs::purge_sysctl, refuses_others},
		{"belongs_to_the_namespace", Needs::purge_sysctl,
		 belongs_to_the_namespace},
		{"new_namespace_starts_at_0", Needs::purge_sysctl,
		 new_namespace_starts_at_0},
		{"user_namespace_sets_its_own", Needs::purge_sysctl,
		 user_namespace_sets_its_own},
	});
}
