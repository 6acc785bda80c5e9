// SPDX-License-Identifier: GPL-2.0
/*
 * What the running kernel's own types tell of it: BTF, from
 * /sys/kernel/btf (Documentation/bpf/btf.rst). With it a test finds out whether
 * the kernel has a feature, and need not ask for its version.
 */
#pragma once

#include <optional>

namespace selftest {

/**
 * Whether struct @structure has a @member, in the kernel or in its module @module.
 * Nothing if the kernel does not tell: it has no BTF, or no such structure.
 */
std::optional<bool> struct_has(const char *structure, const char *member,
			       const char *module = nullptr);

} // namespace selftest
