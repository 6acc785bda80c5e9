/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looking at the host itself: which of the kernel's features and of our
 * privileges are there, and which network devices with which drivers.
 */
#pragma once

#include "facts.h"

namespace rxstall {

/* Fills features and nics; asks, never changes. */
void probe_host(Snapshot &snapshot);

} // namespace rxstall
