// SPDX-License-Identifier: GPL-2.0
/*
 * Scripts whose peer, readers and other callers run at the same time. Which of
 * them came first is not known, so what is judged is what holds in every order.
 */
#pragma once

#include "storm_play.h"

namespace storm {

/** Plays a racing @script; throws Unmet if no order explains what was seen. */
Tally race(Bench &bench, const Script &script);

} // namespace storm
