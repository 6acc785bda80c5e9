// SPDX-License-Identifier: GPL-2.0
#include "cpu.h"

#include <sched.h>

#include "checked.h"
#include "ktap.h"

namespace selftest {

void stay_on_this_cpu()
{
	stay_on_cpu(check(::sched_getcpu(), "sched_getcpu"));
}

void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(static_cast<unsigned>(cpu), &set);
	check(::sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

int another_cpu()
{
	const int here = check(::sched_getcpu(), "sched_getcpu");
	cpu_set_t usable;

	check(::sched_getaffinity(0, sizeof(usable), &usable),
	      "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(static_cast<unsigned>(cpu), &usable) && cpu != here)
			return cpu;
	throw Skip("this needs two CPUs");
}

} // namespace selftest
