# SPDX-License-Identifier: GPL-2.0
# Shared by the end-to-end tests: KTAP lines, and the states to look at. Every
# test looks only at processes it started itself.
# shellcheck shell=bash
set -u

: "${RXSTALL:?path of the program}"
: "${REPRODUCE:=}"
: "${TESTBIN:=}"

count=0
failures=0
started=()
scratch=$(mktemp -d)

finish() {
	local pid
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ "$(type -t cleanup)" = function ] && cleanup
	rm -rf "$scratch"
	echo "1..$count"
	# a bare exit in a trap would return the status from before it
	exit $((failures > 0))
}
trap finish EXIT

# check NAME COMMAND...: one test, passed if the command succeeds.
check() {
	local name=$1 output
	shift
	count=$((count + 1))
	if output=$("$@" 2>&1); then
		echo "ok $count $name"
	else
		failures=$((failures + 1))
		echo "not ok $count $name"
		sed 's/^/# /' <<< "$output" | head -20
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count $1 # SKIP $2"
}

# Equal texts, or both shown.
same() {
	[ "$1" = "$2" ] || { echo "expected: $2"; echo "got:      $1"; return 1; }
}

# soon COMMAND...: it succeeds within $patience tenths of a second.
patience=300
soon() {
	for _ in $(seq "$patience"); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.1
	done
	"$@"
}

# reproduce CASE...: starts it and waits; sets holder to the process that holds.
reproduce() {
	local out="$scratch/reproduce.$RANDOM"
	: > "$out"
	"$REPRODUCE" "$@" --hold 300 > "$out" &
	started+=($!)
	for _ in $(seq 100); do
		holder=$(sed -n 's/^holding .* in process \([0-9]*\)$/\1/p' "$out")
		[ -n "$holder" ] && return 0
		sleep 0.1
	done
	echo "# reproduce $* did not get ready"
	return 1
}

# release_holder: ends the last process that reproduce() started.
release_holder() {
	kill "${started[-1]}" 2>/dev/null
	wait "${started[-1]}" 2>/dev/null
	unset 'started[-1]'
}

# instances PID: how many tracefs instances of that rxstall exist ("*": of any),
# looked at in a mount namespace of our own, for tracefs may not be mounted.
instances() {
	unshare -m bash -c '
		[ -d /sys/kernel/tracing/instances ] || mount -t tracefs none /sys/kernel/tracing || exit 1
		set -- /sys/kernel/tracing/instances/rxstall-$0
		[ -e "$1" ] && echo $# || echo 0' "$1"
}
