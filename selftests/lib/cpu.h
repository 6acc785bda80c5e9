// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPU a test runs on. Packets between namespaces of one machine are processed
 * on the CPU that sends them.
 */
#pragma once

namespace selftest {

/**
 * Keeps the calling thread on the CPU it is on. recv() leaves what it has read on
 * the deferred list of the CPU that allocated it (skb_attempt_defer_free), and
 * while that CPU is idle the pages stay out of their pool: to be called before
 * the first packet by whoever looks at pools. Throws std::system_error.
 */
void stay_on_this_cpu();

/** Moves the calling thread to @cpu and keeps it there; throws the same. */
void stay_on_cpu(int cpu);

/** A CPU the calling thread may use and is not on. Throws Skip if there is none. */
int another_cpu();

} // namespace selftest
