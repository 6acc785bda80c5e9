#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# How long a scan takes compared with `ss -tapnm` on the same sockets in the same
# run, as ratios: ours divided by ss's, the best of three each. The ss column is how
# its own time grew from the row above. SIZES and LSOF_UP_TO change what is measured.
# With CHECK=1 the status is 1 if 50000 sockets take more than 1/20 (bpf) or 1/3 (walk).
set -u
: "${RXSTALL:?}" "${TESTBIN:?}"
SIZES=${SIZES:-1000 10000 50000 100000}
LSOF_UP_TO=${LSOF_UP_TO:-10000}

# best COMMAND...: nanoseconds of the fastest of three
best() {
	local least=0 begin took
	for _ in 1 2 3; do
		begin=$(date +%s%N)
		"$@" > /dev/null 2>&1
		took=$(($(date +%s%N) - begin))
		if [ $least = 0 ] || [ $took -lt $least ]; then least=$took; fi
	done
	echo $least
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b) printf "%.4f", a / b; else printf "-" }'; }

work=$(mktemp -d)
crowd=
end_crowd() { exec 5>&-; [ -n "$crowd" ] && wait "$crowd" 2>/dev/null; crowd=; }
trap 'end_crowd; rm -rf "$work"' EXIT

printf '%8s %8s %8s %8s %8s %10s\n' SOCKETS BPF/SS WALK/SS LSOF/SS SS-GREW BPF-MAXRSS
before=0
status=0
for size in $SIZES; do
	rm -f "$work/in"; mkfifo "$work/in"
	"$TESTBIN/crowd" "$size" 50 $((size / 100)) < "$work/in" > "$work/out" &
	crowd=$!
	exec 5> "$work/in"
	until grep -q ready "$work/out"; do
		kill -0 $crowd 2>/dev/null || { echo "the crowd failed" >&2; exit 1; }
		sleep 0.2
	done
	pid=$(sed -n 's/^ready //p' "$work/out")

	ss=$(best nsenter -t "$pid" -n ss -tapnm)
	bpf=$(best "$RXSTALL" sockets --method bpf)
	walk=$(best "$RXSTALL" sockets --method walk)
	lsof=0
	[ "$size" -le "$LSOF_UP_TO" ] && lsof=$(best nsenter -t "$pid" -n lsof -nP -i TCP)
	memory=$(/usr/bin/time -f %M "$RXSTALL" sockets --method bpf 2>&1 > /dev/null | tail -1)
	printf '%8s %8s %8s %8s %8s %9sK\n' "$size" "$(ratio "$bpf" "$ss")" "$(ratio "$walk" "$ss")" \
		"$(if [ "$lsof" = 0 ]; then echo -; else ratio "$lsof" "$ss"; fi)" "$(ratio "$ss" "$before")" "$memory"
	before=$ss
	if [ "$size" = 50000 ] && [ -n "${CHECK:-}" ]; then
		[ $((bpf * 20)) -le "$ss" ] && [ $((walk * 3)) -le "$ss" ] || status=1
	fi
	end_crowd
done
exit $status
