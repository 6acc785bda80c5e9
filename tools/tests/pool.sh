#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The example of a pool: with the check nothing is held in the end, without it all is.
. "${0%/*}/lib.sh"

pool=$TESTBIN/../examples/pool
held() { "$RXSTALL" sockets --pid "$1" --json | jq -r 'map(.rmem) | "\(length) \(add // 0)"'; }

# play OPTION...: until it has swept; sets player to its pid
play() {
	rm -f "$scratch/in"; mkfifo "$scratch/in"
	: > "$scratch/out"
	"$pool" --hold "$@" < "$scratch/in" > "$scratch/out" &
	player=$!
	started+=("$player")
	exec 5> "$scratch/in"
	for _ in $(seq 100); do grep -q sweep "$scratch/out" && return; sleep 0.1; done
}
end_play() { exec 5>&-; wait "$player"; }

play
check "all connections were dead and have been closed" grep -q '^after the sweep, which closed 100: 0, 0 bytes' "$scratch/out"
check "they held something before" bash -c '[ "$(sed -n "s/^after FIN and RST: 100, \([0-9]*\) bytes/\1/p" "$0")" -gt 0 ]' "$scratch/out"
check "rxstall finds nothing held either" same "$(held "$player")" "0 0"
end_play
check "that is success" same $? 0

play --careless
bytes=$(sed -n 's/^after the sweep.* \([0-9]*\) bytes$/\1/p' "$scratch/out")
if [ "$(cat /proc/sys/net/ipv4/tcp_purge_receive_queue 2>/dev/null || echo 0)" = 0 ]; then
	check "without the check they are all held" test "$bytes" -gt 0
	check "and rxstall counts the same bytes" same "$(held "$player")" "100 $bytes"
	end_play
	check "that is a failure" same $? 1
else
	check "without the check the kernel frees them here" same "$bytes" 0
fi
