/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capabilities: every verb keeps those it needs and drops the others before
 * it looks at anything.
 */
#pragma once

#include <string>
#include <sys/capability.h>
#include <vector>

namespace rxstall {

/*
 * Keeps only these capabilities, of those the process has, in the permitted
 * and effective sets, and none in the inheritable set. Throws
 * std::runtime_error if the kernel refuses, which dropping never makes it do.
 */
void keep_only(const std::vector<cap_value_t> &needed);

/* Names of the needed capabilities that the process lacks, as "cap_bpf". */
[[nodiscard]] std::vector<std::string> lacking(const std::vector<cap_value_t> &needed);

} // namespace rxstall
