#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The incident with a real client: Sarama reads only while it waits for an answer, so
# the FIN to an idle connection stays unread. The broker's process ends; a second later
# its kernel has forgotten the connections and answers the client's keepalive with a
# RST. Each cure alone frees the page pool.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

[ -x "$TESTBIN/sarama" ] || { skip sarama "needs Go and the package golang-github-shopify-sarama-dev"; exit; }
knob=net/ipv4/tcp_purge_receive_queue
patched=
[ -e /proc/sys/$knob ] && patched=1
clients=20
broker=198.51.100.1:9092

# What rxstall sees of the client: "20 close fin-only"
seen() {
	"$RXSTALL" sockets --pid "$client" --json | jq -r '.[] | "\(.state) \(.class)"' | sort | uniq -c |
		sed 's/^ *//' | paste -sd ' '
}
sees() { [ "$(seen)" = "$1" ] || { seen; return 1; }; }
connections() { find "/proc/$client/fd" -lname 'socket:*' | wc -l; }
stalled() { "$RXSTALL" pools --listen 1.5 --json | jq "[.[] | select(.listed | not)] | length"; }
# What the client has read is not to count.
pools_are() { wake_cpus; [ "$(stalled)" = "$1" ] || { stalled; return 1; }; }
gone() { ! ip netns exec "$box-b" ss -Htn state established state close-wait | grep -q :9092; }

# begin VALUE: clients and broker over a veth whose pages come from a pool; then the
# broker goes away. VALUE is the sysctl's, where there is one.
begin() {
	wired_boxes || return 1
	# how long the kernel remembers a connection whose process has gone
	ip netns exec "$box-a" sh -c 'echo 1 > /proc/sys/net/ipv4/tcp_fin_timeout'
	[ ! "$patched" ] || ip netns exec "$box-b" sh -c "echo $1 > /proc/sys/$knob"

	rm -f "$scratch/to-broker" "$scratch/to-client"
	mkfifo "$scratch/to-broker" "$scratch/to-client"
	: > "$scratch/broker"; : > "$scratch/hold"
	ip netns exec "$box-a" "$TESTBIN/sarama" broker $broker < "$scratch/to-broker" > "$scratch/broker" &
	started+=($!)
	exec 6> "$scratch/to-broker"
	soon grep -q listening "$scratch/broker" || return 1
	ip netns exec "$box-b" "$TESTBIN/sarama" client $broker $clients < "$scratch/to-client" > "$scratch/hold" 6>&- &
	client=$!
	started+=("$client")
	exec 5> "$scratch/to-client"
	soon grep -q connected "$scratch/hold" || return 1
	exec 6>&-	# the broker's process ends
	soon gone
}
end() { exec 5>&-; wait "$client" 2>/dev/null; cleanup; }

before=$(stalled)
begin 0 || { check "the incident can be made" false; exit; }
check "FIN and RST have come, and nobody has read" soon sees "$clients close fin-only"
check "the client keeps its connections" test "$(connections)" -ge $clients
check "ss does not show them" same "$(ip netns exec "$box-b" ss -Htan | grep -c :9092)" 0
remove_device
check "the pool stalls" soon pools_are $((before + 1))
if [ ! "$patched" ]; then
	"$RXSTALL" guard --pid "$client" --min-age 0 --cpu 100 --interval 0.1 --guard-state "$scratch/guard" 2> "$scratch/said" &
	guard=$!
	started+=("$guard")
	check "cured by the guard" soon pools_are "$before"
	kill "$guard"; wait "$guard"
	check "the client keeps its connections all the same" test "$(connections)" -ge $clients
else
	check "cured by closing" same "$(tell close)" closed
	check "the pool is freed" soon pools_are "$before"
fi
check "the next request fails as it always did" grep -q 'run out of available brokers\|closed' <<< "$(tell send)"
end

if [ "$patched" ]; then
	begin 2 || { check "the incident can be made" false; exit; }
	check "with the sysctl at 2 nothing is held" soon sees ""
	check "the client keeps its connections" test "$(connections)" -ge $clients
	remove_device
	sleep 2
	check "and no pool stalls" soon pools_are "$before"
	check "the next request fails as it always did" grep -q 'run out of available brokers' <<< "$(tell send)"
	end
else
	begin 0 || { check "the incident can be made" false; exit; }
	check "again all are held" soon sees "$clients close fin-only"
	remove_device
	check "the pool stalls" soon pools_are $((before + 1))
	check "cured by closing" same "$(tell close)" closed
	check "the pool is freed" soon pools_are "$before"
	end
fi
