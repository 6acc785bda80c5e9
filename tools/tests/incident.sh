# SPDX-License-Identifier: GPL-2.0
# The whole incident on one machine: connections over a veth whose receiving
# end runs XDP, FIN and RST for each, nobody reads, the device goes away.
# shellcheck shell=bash

box=rxstall-$$

cleanup() {
	exec 5>&- 6>&- 8>&- 2>/dev/null
	ip netns del "$box-a" 2>/dev/null
	ip netns del "$box-b" 2>/dev/null
	ip netns del "$box-c" 2>/dev/null
}

# wait_for FILE WORD
wait_for() {
	for _ in $(seq 100); do
		grep -q "$2" "$1" && return 0
		sleep 0.05
	done
	return 1
}

# connections ADDRESS COUNT PEERS HOLDERS: that many between two namespaces. Sets
# holder; commands to the holder go to fd 5, its answers to $scratch/hold, those to
# the peer to fd 6 and $scratch/peer.
# shellcheck disable=SC2154	# scratch comes from lib.sh
connections() {
	rm -f "$scratch/to-hold" "$scratch/to-peer"
	mkfifo "$scratch/to-hold" "$scratch/to-peer"
	: > "$scratch/hold"; : > "$scratch/peer"
	ip netns exec "$4" "$TESTBIN/idle" hold "$1" "$2" < "$scratch/to-hold" > "$scratch/hold" &
	holder=$!
	started+=("$holder")
	exec 5> "$scratch/to-hold"
	wait_for "$scratch/hold" listening || return 1
	ip netns exec "$3" "$TESTBIN/idle" peer "$1" "$2" < "$scratch/to-peer" > "$scratch/peer" &
	peer=$!
	started+=("$peer")
	exec 6> "$scratch/to-peer"
	wait_for "$scratch/peer" connected && wait_for "$scratch/hold" held
}

# end_connections: both ends.
end_connections() {
	exec 5>&- 6>&-
	wait "$holder" "$peer"
}

# from_peer COMMAND: what the peers send; returns when it is sent.
from_peer() {
	echo "$1" >&6
	wait_for "$scratch/peer" "$1 done"
}

# local_box NAME: a namespace with loopback only.
local_box() {
	ip netns add "$1" && ip -n "$1" link set lo up
}

# wired_boxes: two namespaces with a veth between them whose pages come from a pool.
# Where veth has none, a driver for tests gives it one (selftests/vm/pp_rx.c).
wired_boxes() {
	ip netns add "$box-a" && ip netns add "$box-b" || return 1
	ip -n "$box-a" link add v0 type veth peer name v1 netns "$box-b"
	ip -n "$box-a" addr add 198.51.100.1/24 dev v0
	ip -n "$box-b" addr add 198.51.100.2/24 dev v1
	ip -n "$box-a" link set v0 up && ip -n "$box-b" link set v1 up
	if [ -e /dev/pp_rx ]; then
		exec 8> /dev/pp_rx && ip netns exec "$box-b" bash -c 'printf v1 >&8'
	else
		ip -n "$box-b" link set dev v1 xdp obj "$TESTBIN/pass.o" sec xdp
	fi
}

# incident COUNT [COMMAND]: makes it, the peers sending FIN and RST.
incident() {
	wired_boxes || return 1
	connections 198.51.100.2 "$1" "$box-a" "$box-b" || return 1
	[ $# = 1 ] || from_peer "$2" || return 1
	from_peer reset
}

# The driver lets go of its pool.
remove_device() {
	ip -n "$box-b" link del v1
}

# An idle CPU keeps what it is to free until a packet comes by.
wake_cpus() {
	local cpu
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" bash -c 'echo > /dev/udp/127.0.0.1/9' 2>/dev/null
	done
}

# tell COMMAND: to the holder; prints its answer.
tell() {
	local before
	before=$(wc -l < "$scratch/hold")
	echo "$1" >&5
	for _ in $(seq 100); do
		[ "$(wc -l < "$scratch/hold")" -gt "$before" ] && break
		sleep 0.02
	done
	tail -1 "$scratch/hold"
}
