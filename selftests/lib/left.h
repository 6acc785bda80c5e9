// SPDX-License-Identifier: GPL-2.0
/*
 * What a test makes outside its network namespace carries its process id. If the
 * test is killed, its parent finds and removes these things by that.
 */
#pragma once

#include <sys/types.h>

#include <string>

namespace selftest {

/** The name of a tracefs instance of the calling process, for mkdtemp(3). */
std::string trace_instance_template();

/** The id of the netdevsim device of the calling process. */
std::string netdevsim_id();

/** Removes the instances and the device of @child, which has ended. Never throws. */
void remove_left_by(pid_t child) noexcept;

} // namespace selftest
