#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The knob in all namespaces: on a patched kernel only.
. "${0%/*}/lib.sh"

knob=net/ipv4/tcp_purge_receive_queue
[ -e /proc/sys/$knob ] || { skip sysctl "this kernel has no tcp_purge_receive_queue"; exit; }

cleanup() {
	ip netns del "rxstall-$$-a" 2>/dev/null
	ip netns del "rxstall-$$-b" 2>/dev/null
}
value() { ip netns exec "$1" cat /proc/sys/$knob; }

old=$(cat /proc/sys/$knob)
a=rxstall-$$-a b=rxstall-$$-b
ip netns add $a
check "set in one namespace" "$RXSTALL" sysctl -N $a 1
check "it has the value" same "$(value $a)" 1
check "ours has not" same "$(cat /proc/sys/$knob)" "$old"
check "shown by name" bash -c '"$0" sysctl | grep -Eq "$1 +1 "' "$RXSTALL" "$a"

"$RXSTALL" sysctl 2 --all --follow --restore > "$scratch/out" 2>&1 &
follow=$!
started+=("$follow")
for _ in $(seq 50); do [ "$(value $a)" = 2 ] && break; sleep 0.1; done
check "set in all" same "$(value $a) $(cat /proc/sys/$knob)" "2 2"
ip netns add $b
for _ in $(seq 50); do [ "$(value $b)" = 2 ] && break; sleep 0.1; done
check "set in a namespace created later" same "$(value $b)" 2
kill -TERM "$follow"; kill -TERM "$follow"
wait "$follow"
check "an orderly end is no failure" same $? 0
check "old values are restored" same "$(value $a) $(value $b) $(cat /proc/sys/$knob)" "1 0 $old"
