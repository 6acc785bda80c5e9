# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts here: messages, long steps with a log and a sign of
# life, and where things are. Sourced, with $0 naming the script in messages.

set -u -o pipefail
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
build=$top/build

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { say "$@" >&2; exit 1; }

# What make says about itself to its children is not meant for other trees.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# long_step NAME LOG COMMAND...: runs COMMAND with its output in LOG, and every
# ten seconds prints how far LOG has come. When it fails, so does the script,
# with the reason found in LOG.
long_step() {
	local name=$1 log=$2 reporter status
	shift 2
	{ : >"$log"; } 2>/dev/null || die "cannot write $log; whose is build/?"
	say "$name ..."
	{
		# A descriptor with nothing to read: waits without a process.
		exec {never}<> <(:)
		while ! read -r -t 10 -u "$never" && kill -0 $$ 2>/dev/null; do
			say "$name: $(wc -l <"$log") steps$(tail -n 1 -- "$log" | sed 's/^ */, /' | cut -c 1-60)"
		done
	} 2>/dev/null &
	reporter=$!
	"$@" >"$log" 2>&1
	status=$?
	kill "$reporter" 2>/dev/null
	wait "$reporter" 2>/dev/null
	((status == 0)) || fail_from_log "$name" "$log"
}

# disk_full NAME LOG: ends the script if NAME failed for want of space.
disk_full() {
	if grep -qE "No space left on device|enough free space" "$2" || (($(df --output=avail "$build" | tail -n 1) < 1024)); then
		die "$1: the disk that holds $build is full"
	fi
}

# fail_from_log NAME LOG: ends the script with the lines of LOG that tell why.
fail_from_log() {
	disk_full "$1" "$2"
	{ grep -iE '\b(error|fatal|failed|undefined)\b|\*\*\*' "$2" || tail -n 10 -- "$2"; } | tail -n 15 | cat -v >&2
	die "$1: failed, see $2"
}

# One build at a time: a second one waits here.
lock_build() {
	mkdir -p -- "$build" || exit 1
	exec {build_lock}>"$build/.lock" || exit 1
	flock -n "$build_lock" && return
	say 'waiting for another build'
	flock "$build_lock"
}

# version_of TREE: as in 6.12.117, from the kernel tree's Makefile.
version_of() {
	sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) *= *\([0-9]*\)$/\2/p' "$1/Makefile" |
		paste -sd .
}
