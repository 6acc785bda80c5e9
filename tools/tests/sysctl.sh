#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The knob in all namespaces: on a patched kernel only.
. "${0%/*}/lib.sh"

knob=net/ipv4/tcp_purge_receive_queue
[ -e /proc/sys/$knob ] || { skip sysctl "this kernel has no tcp_purge_receive_queue"; exit; }

cleanup() {
	ip netns del "rxstall-$$-a" 2>/dev/null
	ip netns del "rxstall-$$-b" 2>/dev/null
	ip netns del "rxstall-$$-c" 2>/dev/null
}
value() { ip netns exec "$1" cat /proc/sys/$knob 2>/dev/null || echo gone; }

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

# --match: by the namespace's name, and by a process that lives there.
# values: of a, b, c and ours
values() { same "$(value $a) $(value $b) $(value $c) $(cat /proc/sys/$knob)" "$1"; }
status_of() { "$@" > "$scratch/out" 2>&1; echo $?; }
c=rxstall-$$-c
broker=rx-broker-$$
ip netns add $c
cp "$(type -P sleep)" "$scratch/$broker"
ip netns exec $c "$scratch/$broker" 300 & living=$!
started+=("$living")
soon grep -qx "$broker" "/proc/$living/comm"

check "those whose name fits" "$RXSTALL" sysctl --match "rxstall-$$-[ab]" 2
check "are set, and no others" values "2 2 0 $old"
check "those where a process fits" "$RXSTALL" sysctl --match "rx-brok*-$$" 2
check "are set, and no others" values "2 2 2 $old"
check "no part of a name fits" same "$(status_of "$RXSTALL" sysctl --match "rxstall-$$" 1)" 1
check "it says that nothing does" grep -q 'no such network namespace' "$scratch/out"
check "then nothing is set" values "2 2 2 $old"
check "--match without a value is a usage error" same "$(status_of "$RXSTALL" sysctl --match "rxstall-$$-*")" 2
check "--match with -N, too" same "$(status_of "$RXSTALL" sysctl --match "rxstall-$$-*" -N $a 1)" 2
check "then nothing is set, either" values "2 2 2 $old"

ip netns del $b
"$RXSTALL" sysctl 1 --match "rxstall-$$-[bc]" --follow > "$scratch/out" 2>&1 & follow=$!
started+=("$follow")
check "--match --follow sets what is there" soon values "2 gone 1 $old"
ip netns add $b
check "and one that fits later" soon values "2 1 1 $old"
inode() { stat -Lc %i "/run/netns/$1"; }
before=$(inode $c)
# shellcheck disable=SC2317	# called through soon
same_number() {
	ip netns del $c
	ip netns add $c
	[ "$(inode $c)" = "$before" ]
}
kill "$living"
check "a namespace gets the number of one that has gone" soon same_number
check "it is another one and is set, too" soon values "2 1 1 $old"
kill -TERM "$follow"
wait "$follow"
check "it ends in order" same $? 0
