# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP output for tests in shell. Sourced. A test is a function; `check` runs it
# in a shell of its own with -e, so that it fails at the first command that does.

ktap_count=0 ktap_failed=0

# plan N: must be first.
plan() { printf 'TAP version 13\n1..%d\n' "$1"; }

# check NAME FUNCTION [ARGUMENT...]: a failure prints the function's trace.
check() {
	local name=$1 output status
	shift
	output=$(exec 2>&1 </dev/null; set -ex; "$@")
	status=$?
	((++ktap_count))
	if ((status == 0)); then
		echo "ok $ktap_count $name"
	else
		((++ktap_failed))
		cat -v <<<"$output" | tail -n 25 | sed 's/^/# /'
		echo "not ok $ktap_count $name"
	fi
}

skip() { echo "ok $((++ktap_count)) $1 # SKIP $2"; }

# finish: the status for the script to end with.
finish() {
	printf '# Totals: pass:%d fail:%d\n' $((ktap_count - ktap_failed)) "$ktap_failed"
	((ktap_failed == 0))
}
