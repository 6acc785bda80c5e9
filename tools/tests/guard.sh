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
local_box "$box_name"
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
sed -i '/guarding\|released\|tracefs\|page_pool\|CAP_SYS_PTRACE/d' "$scratch/said"
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

# tracefs: the instance cannot be removed while it is in use, but it can be switched
# off, and be made to look readable for ever.
in_instance() { nsenter -t "$guard" -m bash -c "cd /sys/kernel/tracing/instances/rxstall-$guard && $1"; }
local_box "$box_name"
for way in 'echo 0 > tracing_on' 'echo 0 > events/page_pool/enable' 'echo block > trace_options'; do
	connections 127.0.0.1 2 "$box_name" "$box_name"
	guard --pid "$holder" --min-age 0
	check "it looks ($way)" soon counted '.scans >= 1 and .released == 0'
	check "nobody removes its tracefs instance" bash -c '! nsenter -t "$0" -m rmdir "/sys/kernel/tracing/instances/rxstall-$0" 2> "$1" &&
		grep -q "Device or resource busy" "$1"' "$guard" "$scratch/refusal"
	check "its tracing is disturbed" in_instance "$way"
	check "it says so" soon grep -q 'page pools do not trigger scans' "$scratch/said"
	from_peer reset
	check "it releases all the same" soon counted '.released == 2'
	check "and has said it once" same "$(grep -c 'page pools do not trigger scans' "$scratch/said")" 1
	ended
	check "the instance is gone" same "$(instances "$guard")" 0
	end_connections
done

# Capabilities go while it runs: it still releases what it may look into.
mkdir "$scratch/poor"
cat > "$scratch/poor/idle" <<END
#!/bin/bash
exec setpriv --bounding-set=-all --inh-caps=-all "$TESTBIN/idle" "\$@"
END
chmod +x "$scratch/poor/idle"
capabilities() { sed -n 's/^CapPrm:\t0*//p' "/proc/$guard/status"; }
none_left() { [ -z "$(capabilities)" ]; }
TESTBIN=$scratch/poor connections 127.0.0.1 2 "$box_name" "$box_name"
wrap=(nsenter "--net=/run/netns/$box_name" env "LD_PRELOAD=$TESTBIN/refuse.so" REFUSE=capabilities "REFUSE_WHEN=$scratch/drop")
guard --pid "$holder" --min-age 0
check "it begins" soon counted '.scans >= 1'
check "with capabilities" test -n "$(capabilities)"
touch "$scratch/drop"
check "it loses them" soon none_left
from_peer reset
check "who has no more than it is helped" soon counted '.released == 2'
check "and holds nothing" holds "" --pid "$holder"
check "it says that BPF is lost" grep -q 'walking /proc instead' "$scratch/said"
check "and that it may not look into everything" grep -q CAP_SYS_PTRACE "$scratch/said"
check "and nothing twice" bash -c '[ -z "$(sort "$0" | uniq -d)" ]' "$scratch/said"
ended
check "it ends in order" same $? 0
end_connections

# Refused by a kernel that allows nobody, as Yama may be told to at any time.
wrap=(env "LD_PRELOAD=$TESTBIN/refuse.so" REFUSE=getfd)
reproduce fin-rst
guard --pid "$holder" --min-age 0
check "a refused socket is counted as failed" soon counted '.failed == 1 and .released == 0'
check "and told" soon grep -q 'could not release 1 socket of' "$scratch/said"
check "and why" grep -q CAP_SYS_PTRACE "$scratch/said"
ended
release_holder

# A forced method goes: the reason is said.
wrap=(unshare -m --propagation private)
connections 127.0.0.1 2 "$box_name" "$box_name"
guard --pid "$holder" --min-age 0 --method bpf
check "with BPF alone" soon counted '.scans >= 1'
check "BTF goes away" nsenter -t "$guard" -m mount -t tmpfs none /sys/kernel/btf
from_peer reset
check "it says why it cannot scan" soon grep -q 'the scan failed: BPF iterator' "$scratch/said"
check "BTF comes back" nsenter -t "$guard" -m umount /sys/kernel/btf
check "and scans when it can again" soon counted '.released == 2'
ended
end_connections

# /proc goes.
if [ -d /run/vm ]; then
	wrap=(unshare -m --propagation private)
	guard
	check "with /proc" soon counted '.scans >= 1'
	check "/proc goes away" nsenter -t "$guard" -m mount -t tmpfs none /proc
	check "it says that it sees nothing any more" soon grep -q '/proc is lost' "$scratch/said"
	ended
	check "and ends in order" same $? 0
fi
wrap=()
ip netns del "$box_name"

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
