#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Incidents from the field, each under its name: the facts are made here, or a
# snapshot is given the lines that were reported. The rest are in sockets.sh.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

sockets() { "$RXSTALL" sockets --pid "$holder" --json "$@"; }
count() { sort | uniq -c | sed 's/^ *//'; }
local_box "$box-c"

# idle-close-wait, recvq-one: half-closed connections by the hundred.
{ connections 127.0.0.1 900 "$box-c" "$box-c" && from_peer fin; } || check "connections" false
check "idle-close-wait: all are seen" same \
	"$(sockets | jq -r '.[] | "\(.state) \(.class) \(.age_ms >= 0)"' | count)" "900 close-wait fin-only true"
check "recvq-one: one line for a process and a port" same \
	"$(sockets --group process,sport | jq -r '.[] | "\(.process) \(.sport) \(.sockets)"')" \
	"idle[$holder] 9092 900"
check "recvq-one: in the table, too" same \
	"$("$RXSTALL" sockets -H --pid "$holder" --group process,sport | wc -l)" 1
"$RXSTALL" release --apply --pid "$holder" > /dev/null
check "idle-close-wait: release frees them before any RST" same "$(sockets)" "[]"
end_connections

# so-error-trap: looking and releasing leave the error to its owner.
{ connections 127.0.0.1 1 "$box-c" "$box-c" && from_peer reset; } || check "connections" false
for method in bpf walk; do sockets --method $method > /dev/null; done
"$RXSTALL" release --apply --pid "$holder" > /dev/null
check "so-error-trap: released" same "$(sockets)" "[]"
check "so-error-trap: the owner still gets its error" same "$(tell error)" EPIPE
end_connections

# unread-108: payload is not dropped without an option that names the loss.
{ connections 127.0.0.1 1 "$box-c" "$box-c" && from_peer data && from_peer fin; } || check "connections" false
check "unread-108: release refuses, and names the option" bash -c '
	"$0" release --apply --pid "$1" | grep -q "leave.*--discard-unread drops it"' "$RXSTALL" "$holder"
check "unread-108: the payload is there" same "$(sockets | jq -r '.[] | "\(.class) \(.unread)"')" "payload 20000"
end_connections

# accept-queue: nobody's yet, so the listener's.
if [ -x "$REPRODUCE" ]; then
	for case in unaccepted-fin unaccepted-fin-rst; do
		reproduce $case
		check "accept-queue: $case is under its listener" same \
			"$(sockets --method bpf | jq -r '.[] | "\(.class) \(.owners[0].holder) \(.owners[0].pid)"')" \
			"payload unaccepted $holder"
		release_holder
	done

	# refused, both-alive: nothing to report; live-unread: on request only
	reproduce refused both-alive live-unread
	check "refused, both-alive, live-unread: not in the default list" same "$(sockets)" "[]"
	check "live-unread: shown with --state all" same "$(sockets --state all | jq -r '.[].state')" established
	release_holder

	# pod-netns: seen from the host, with the namespace; the rest counted
	reproduce fin-rst
	check "pod-netns: found with its namespace" same \
		"$(sockets | jq -r '.[] | "net:[\(.netns)]"')" "$(readlink "/proc/$holder/ns/net")"
	check "pod-netns: namespaces that cannot be entered are counted" bash -c '
		setpriv --bounding-set=-sys_admin --inh-caps=-all "$0" sockets 2>/dev/null |
		grep -q "network namespace.* could not be entered"' "$RXSTALL"
	release_holder
fi

check "no-destroy: doctor names the option, once" same \
	"$("$RXSTALL" doctor 2>/dev/null | grep -c INET_DIAG_DESTROY)" 1

# What a log said: the lines go into a snapshot that is otherwise this host's.
"$RXSTALL" snapshot --listen 0 "$scratch/base" 2>/dev/null
# from_log NOW LINE...: LINE is at,id,inflight,stalled; an empty id is one up to 6.7
from_log() {
	local now=$1 reports='[]' at id inflight stalled
	shift
	for line; do
		IFS=, read -r at id inflight stalled <<< "$line"
		reports=$(jq --argjson at "$at" --argjson id "${id:-null}" --argjson inflight "$inflight" \
			--argjson stalled "$stalled" '. + [{source: "log", at: $at, id: $id, address: "",
			inflight: $inflight, stalled_s: $stalled, ifindex: 0} | del(..|nulls)]' <<< "$reports")
	done
	jq --argjson now "$now" --argjson reports "$reports" \
		'.boottime = $now | .pools = [] | .sockets = [] | .reports = $reports' "$scratch/base" > "$scratch/log"
}
# pools_of FIELDS: of the saved log, from JSON; the table must not contradict it
pools_of() { "$RXSTALL" pools --from "$scratch/log" --json 2>/dev/null | jq -r ".[] | \"$1\""; }
row() { "$RXSTALL" pools -H --from "$scratch/log" 2>/dev/null | head -1 | tr -s ' '; }

from_log 700000 699940,4,1,591188
check "invisible-pool: one page, with the pool's own age" same \
	"$(pools_of '\(.inflight) \(.stalled_s) \(.listed) \(.trend)')" "1 591248 false unknown"
check "invisible-pool: the table says the same" same "$(row | cut -d' ' -f1-8)" "4 ? ? ? 1 - 6d20h unknown"

from_log 1000 990,9,-1783494730,60
check "negative: shown as it is" same "$(pools_of '\(.inflight) \(.trend)')" "-1783494730 negative"
check "negative: the table says the same, and no memory" same "$(row | cut -d' ' -f5-6)" "-1783494730 -"

from_log 1485 1060,,199,60 1121,,192,121 1181,,170,181 1242,,103,242 1302,,86,302 1362,,32,362 1423,,16,423 1483,,2,483
check "draining: one pool, though no line has an id" same "$(pools_of '\(.inflight) \(.trend)')" "2 draining"

from_log 300010 300000,4,21,200399
check "first-seen-late: the age is the pool's" same "$(pools_of '\(.stalled_s) \(.trend)')" "200409 unknown"

from_log 1070 1060,4,1,60
check "one-shot: no trend from one line" same "$(pools_of '\(.trend)')" unknown
from_log 1300 1060,4,1,60
check "one-shot: not followed by another, it is gone" same "$(pools_of '\(.trend)')" ""

# veth-netns: the socket is in one namespace, the pool's device in another that goes away.
ours() { "$RXSTALL" pools --listen 1.5 --json 2>/dev/null | jq "[.[] | select(.holders[].pid == $holder)]"; }
veth_netns() {
	ip netns add "$box-a" && ip netns add "$box-b" &&
	ip -n "$box-a" link add v0 type veth peer name v1 netns "$box-b" &&
	ip -n "$box-b" link add w1 type veth peer name w0 netns "$box-c" &&
	ip -n "$box-a" addr add 198.51.100.1/24 dev v0 && ip -n "$box-b" addr add 198.51.100.2/24 dev v1 &&
	ip -n "$box-b" addr add 203.0.113.1/24 dev w1 && ip -n "$box-c" addr add 203.0.113.2/24 dev w0 || return 1
	for at in a:v0 b:v1 b:w1 c:w0; do ip -n "$box-${at%:*}" link set "${at#*:}" up; done
	ip -n "$box-a" route add 203.0.113.0/24 via 198.51.100.2
	ip -n "$box-c" route add 198.51.100.0/24 via 203.0.113.1
	ip netns exec "$box-b" sysctl -qw net.ipv4.ip_forward=1
	ip -n "$box-b" link set dev v1 xdp obj "$TESTBIN/pass.o" sec xdp
}
if ! "$RXSTALL" sockets --method bpf > /dev/null 2>&1; then
	skip "veth-netns" "needs the BPF iterator"
elif ! { veth_netns && connections 203.0.113.2 1 "$box-a" "$box-c" && from_peer data; }; then
	check "veth-netns: can be made" false
elif [ "$(sockets --state all | jq '[.[].pools[].pages] | add')" = null ]; then
	skip "veth-netns" "veth has no page pool here (it has since Linux 6.4)"
else
	"$RXSTALL" watch > "$scratch/watch" 2>&1 &
	watch=$!
	started+=("$watch")
	for _ in $(seq 100); do [ "$(instances "$watch")" = 1 ] && break; sleep 0.1; done
	ip netns del "$box-b"
	check "veth-netns: a live socket elsewhere holds the pool" wait_for "$scratch/watch" \
		"pool .* stalled for .*held by idle\[$holder\] (1 socket)"
	check "veth-netns: exact, and all its pages" same \
		"$(ours | jq -r '.[] | "\(.holders_exact) \(.pages_reached == .inflight)"')" "true true"
	for _ in $(seq 30); do tell recv > /dev/null; done
	kill -TERM "$peer"
	"$RXSTALL" release --apply --discard-unread --pid "$holder" --state all > /dev/null
	kill -TERM "$holder"
	wake_cpus
	check "veth-netns: released after so many seconds" wait_for "$scratch/watch" "pool .* released after [0-9]* s"
fi

# netdevsim: detached, with age, while the device lives.
sim=$((RANDOM % 10000 + 10))
if ! echo "$sim 1" 2>/dev/null > /sys/bus/netdevsim/new_device; then
	skip "netdevsim" "no netdevsim here"
elif hold=/sys/kernel/debug/netdevsim/netdevsim$sim/ports/0/pp_hold && [ ! -e "$hold" ]; then
	echo "$sim" > /sys/bus/netdevsim/del_device
	skip "netdevsim" "this netdevsim cannot hold a page of its pool, or debugfs is not mounted"
else
	device=$(ls "/sys/bus/netdevsim/devices/netdevsim$sim/net")
	ip link set "$device" up
	echo 1 > "$hold"
	ip link set "$device" down
	check "netdevsim: detached with age, device and driver" same \
		"$("$RXSTALL" pools --listen 0 --json 2>/dev/null | jq -r ".[] | select(.device == \"$device\") |
			\"\(.driver) \(.inflight) \(.listed) \(.stalled_s >= 0)\"")" "netdevsim 1 true true"
	if "$RXSTALL" sockets --method bpf > /dev/null 2>&1; then
		check "netdevsim: no socket holds it" bash -c \
			'"$0" pools --listen 0 | grep -q "$1 .*no socket: look at the driver"' "$RXSTALL" "$device"
	fi
	echo 0 > "$hold"
	echo "$sim" > /sys/bus/netdevsim/del_device
	check "netdevsim: gone when the page is back" same \
		"$("$RXSTALL" pools --listen 0 --json 2>/dev/null | jq "[.[] | select(.driver == \"netdevsim\")] | length")" 0
fi
