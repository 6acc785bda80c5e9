/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One function a verb. Each parses its own options, collects, judges and
 * renders; it returns the exit status of the program: 0 done, 1 failure,
 * 2 usage.
 */
#pragma once

namespace rxstall {

int verb_sockets(int argc, char **argv);
int verb_release(int argc, char **argv);
int verb_watch(int argc, char **argv);
int verb_sysctl(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_snapshot(int argc, char **argv);
int verb_destroy(int argc, char **argv);
int verb_guard(int argc, char **argv);
int verb_metrics(int argc, char **argv);
int verb_pools(int argc, char **argv);

} // namespace rxstall
