#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guard on states made here. It is confined to one process or namespace of this
# test's own, for it would release other processes' sockets, too.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

[ -x "$REPRODUCE" ] || { skip guard "needs REPRODUCE, the program of selftests"; exit; }
state=$scratch/guard.json
patience=600

# guard OPTIONS...: starts one; sets guard to its pid; what it says is in $scratch/said
guard() {
	: > "$scratch/said"
	"${wrap[@]}" "$RXSTALL" guard --cpu 100 --interval "${interval:-0.1}" --guard-state "$state" "$@" 2> "$scratch/said" &
	guard=$!
	started+=("$guard")
}
wrap=()

# ended: stops it; the status is its own
ended() {
	kill -TERM "$guard"
	wait "$guard"
}

counted() { jq -e "$1" "$state"; }
held() { "$RXSTALL" sockets "$@" --json | jq -r '.[].class' | sort | uniq -c | sed 's/^ *//' | paste -sd ' '; }
holds() { [ "$(held "${@:2}")" = "$1" ] || { held "${@:2}"; return 1; }; }

if [ -e /proc/sys/net/ipv4/tcp_purge_receive_queue ]; then
	knob=net/ipv4/tcp_purge_receive_queue
	a=rxstall-$$-a b=rxstall-$$-b
	value() { ip netns exec "$1" cat /proc/sys/$knob; }
	# shellcheck disable=SC2317	# called through soon
	is() { [ "$(value "$1")" = "$2" ]; }
	ip netns add $a
	guard -N $a
	check "on a patched kernel it sets the sysctl" soon is $a 2
	check "in that namespace only" same "$(cat /proc/sys/$knob)" 0
	check "and counts it" soon counted '.namespaces_set == 1 and .mode == "sysctl"'
	ip netns exec $a sh -c "echo 0 > /proc/sys/$knob"
	sleep 0.5
	check "what somebody sets afterwards is kept" same "$(value $a)" 0
	ended
	check "an orderly end is no failure" same $? 0
	if [ -d /run/vm ]; then
		ip netns exec $a sh -c "echo 1 > /proc/sys/$knob"
		guard
		check "without -N in ours, too" soon grep -qx 2 /proc/sys/$knob
		ip netns add $b
		check "and in one that is created later" soon is $b 2
		check "1 is somebody's choice and is kept" same "$(value $a)" 1
		ended
		# between two looks a namespace goes and another gets its number
		interval=2 guard
		check "set when it starts" soon is $b 2
		before=$(stat -Lc %i "/run/netns/$b")
		# shellcheck disable=SC2317	# called through soon
		same_number() {
			ip netns del "$b"
			ip netns add "$b"
			[ "$(stat -Lc %i "/run/netns/$b")" = "$before" ]
		}
		check "another namespace gets the number of one that has gone" soon same_number
		check "and the sysctl" soon is $b 2
		ended
		check "it ends in order" same $? 0
		echo 0 > /proc/sys/$knob
	fi
	exit
fi

reproduce fin-rst data-fin-rst fin out-of-order late-write
guard --pid "$holder" --min-age 1h
check "young sockets are left alone" soon counted '.scans >= 1 and .released == 0'
ended
check "an orderly end is no failure" same $? 0
check "its state file is gone" test ! -e "$state"

guard --pid "$holder" --min-age 0 --dry-run
check "a dry run says what it would do" soon grep -q 'would release 3 sockets of .* bytes' "$scratch/said"
check "and frees nothing" holds "3 fin-only 1 out-of-order 1 payload" --pid "$holder"
check "nor counts it" counted '.released == 0'
ended

guard --pid "$holder" --min-age 0 --limit 2
check "the limit holds" soon grep -q 'released 2 sockets of' "$scratch/said"
check "one is left for the next minute" holds "1 fin-only 1 out-of-order 1 payload" --pid "$holder"
ended

guard --pid "$holder" --min-age 0
check "FIN-only queues are released" soon holds "1 out-of-order 1 payload" --pid "$holder"
check "and counted" soon counted '.released == 1 and .released_bytes == 832 and .mode == "release"'
"$RXSTALL" metrics --listen 0 --guard-state "$state" > "$scratch/metrics"
check "the metrics say that it runs" grep -qx 'rxstall_guard_running 1' "$scratch/metrics"
check "and what it released" grep -qx 'rxstall_guard_released_bytes_total 832' "$scratch/metrics"
check "it needs less than 32 MB" bash -c '[ "$(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$0/status")" -lt 32768 ]' "$guard"
# A flood of stop requests: the first counts, the others find it under way.
begin=$(date +%s%N)
for signal in TERM TERM INT HUP TERM; do kill -$signal "$guard" 2>/dev/null; done
wait "$guard"
check "stopped many times, it ends in order" same $? 0
check "within a second" test $(($(date +%s%N) - begin)) -lt 1000000000
check "no tracefs instance stays" same "$(instances "$guard")" 0
release_holder

# From the counters alone: FINs and RSTs come when the first scan is long over.
box_name=$box-c
cleanup_incident=$(declare -f cleanup)
eval "${cleanup_incident/cleanup/cleanup_incident}"
cleanup() { cleanup_incident; ip netns del "$box_name" 2>/dev/null; }
ip netns add "$box_name" && ip -n "$box_name" link set lo up
mkfifo "$scratch/hold-in" "$scratch/peer-in"
ip netns exec "$box_name" "$TESTBIN/idle" hold 127.0.0.1 5 < "$scratch/hold-in" > "$scratch/hold-out" & started+=($!)
exec 7> "$scratch/hold-in"
wait_for "$scratch/hold-out" listening
ip netns exec "$box_name" "$TESTBIN/idle" peer 127.0.0.1 5 < "$scratch/peer-in" > "$scratch/peer-out" & started+=($!)
exec 8> "$scratch/peer-in"
wait_for "$scratch/hold-out" held
mkfifo "$scratch/fin-in"
ip netns exec "$box_name" "$TESTBIN/idle" hold 127.0.0.2 3 < "$scratch/hold-in" > "$scratch/fin-out" & started+=($!)
wait_for "$scratch/fin-out" listening
ip netns exec "$box_name" "$TESTBIN/idle" peer 127.0.0.2 3 < "$scratch/fin-in" > /dev/null & started+=($!)
exec 9> "$scratch/fin-in"
wait_for "$scratch/fin-out" held
# Each dump walks through all sockets of the host, a look at the counters through none.
wrap=(strace -o "$scratch/calls" -e 'trace=socket,openat' -e signal=none)
guard -N "$box_name" --min-age 1s
# shellcheck disable=SC2016	# for the shell inside
check "sixty looks need ten dumps" soon bash -c '
	looks=$(grep -c /net/sockstat\" "$0"); dumps=$(grep -c NETLINK_SOCK_DIAG "$0")
	[ "$looks" -ge 60 ] && [ "$dumps" -ge 3 ] && [ $((dumps * 6)) -le $((looks + 6)) ]' "$scratch/calls"
kill -TERM "$(pgrep -P "$guard")"
wait "$guard"
wrap=(unshare -m --propagation private)
guard -N "$box_name" --min-age 1s
check "the first scan finds nothing" soon counted '.scans >= 1 and .released == 0'
echo reset >&8
check "connections that die later are released" soon counted '.released == 5'
check "nothing is held in that namespace" holds "" -N "$box_name"

# Losing BPF and tracefs on the way.
check "tracefs and BTF go away" nsenter -t "$guard" -m bash -c '
	mount -t tmpfs none /sys/kernel/tracing && mount -t tmpfs none /sys/kernel/btf'
# CLOSE_WAIT alone moves no counter: it is found by a dump.
echo fin >&9
check "a FIN alone is found by a dump" soon counted '.released == 8'
exec 7>&- 8>&- 9>&-
ip netns del "$box_name"
sleep 0.5
check "a namespace that goes away is no trouble" kill -0 "$guard"
sed -i '/guarding\|released\|tracefs\|page_pool/d' "$scratch/said"
check "and nothing to talk about but that BPF is lost, once" same \
	"$(grep -c 'walking /proc instead' "$scratch/said") of $(wc -l < "$scratch/said")" "1 of 1"
ended
check "the tracefs instance is gone though nobody could see it" same "$(instances "$guard")" 0
wrap=()

# The whole incident: the pool is free again.
stalled() { "$RXSTALL" pools --listen 1.5 --json | jq -e "[.[] | select(.listed | not)] | length $1"; }
before=$("$RXSTALL" pools --listen 1.5 --json | jq '[.[] | select(.listed | not)] | length')
if incident 20; then
	remove_device
	check "a pool stalls" soon stalled "> $before"
	guard -N "$box-b" --min-age 0
	check "the pool is freed" soon stalled "== $before"
	check "send() still says EPIPE" same "$(tell send)" EPIPE
	ended
else
	check "the incident can be made" false
fi

# Without BPF, and without tracefs and other namespaces: said once, and the rest is done.
reproduce fin-rst fin
wrap=(setpriv '--bounding-set=-bpf,-perfmon,-sys_admin' --inh-caps=-all)
guard --pid "$holder" --min-age 0
check "without BPF it releases all the same" soon counted '.released == 2'
reproduce fin-rst
check "it goes on" soon counted '.scans >= 2'
check "what is missing is said once" same "$(grep -c 'walking /proc instead' "$scratch/said")" 1
ended
release_holder
wrap=(setpriv '--bounding-set=-sys_admin,-sys_ptrace,-dac_read_search' --inh-caps=-all)
guard --pid "$holder" --min-age 0
check "without privileges it does not fall over" soon counted '.scans >= 1'
check "it says so" soon test -s "$scratch/said"
check "and says nothing twice" bash -c '[ -z "$(sort "$0" | uniq -d)" ]' "$scratch/said"
ended
check "it ends in order" same $? 0
wrap=()
release_holder

# systemd's side, on a socket of our own.
cat > "$scratch/listen.py" <<'PY'
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("bound", flush=True)
while True:
    text = listener.recv(65536).decode()
    print(text, flush=True)
    if "STOPPING" in text:
        break
PY
python3 "$scratch/listen.py" "$scratch/notify" > "$scratch/notified" &
started+=($!)
wait_for "$scratch/notified" bound
reproduce both-alive
interval=60 NOTIFY_SOCKET=$scratch/notify WATCHDOG_USEC=400000 guard --pid "$holder"
check "it tells systemd that it is ready" wait_for "$scratch/notified" READY=1
check "and that it is alive" soon bash -c '[ "$(grep -c WATCHDOG=1 "$0")" -ge 4 ]' "$scratch/notified"
check "and what it does" grep -q '^STATUS=release: 0 sockets released' "$scratch/notified"
ended
check "and that it stops" wait_for "$scratch/notified" STOPPING=1
release_holder
check "a limit of 0 is a usage error" bash -c '"$0" guard --limit 0 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
