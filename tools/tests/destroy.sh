#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Half-open connections: the peer's process ends while the link is down, so that nothing
# of it arrives. Found by age, destroyed on request, and nothing stays in their queues.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

states() { ip netns exec "$box-b" ss -Htan | sed -n '/:9092/s/ .*//p' | sort | uniq -c | sed 's/^ *//' | paste -sd ' '; }
listed() { "$RXSTALL" destroy --pid "$holder" --json "$@" | jq -r '.[].state' | sort | uniq -c | sed 's/^ *//' | paste -sd ' '; }
lists() { [ "$(listed "${@:2}")" = "$1" ] || { listed "${@:2}"; return 1; }; }

if ! { wired_boxes && connections 198.51.100.2 3 "$box-a" "$box-b" && from_peer data; }; then
	check "the state can be made" false
	exit
fi
unread() { ip netns exec "$box-b" ss -Htn state established | awk '{ n += $1 } END { print n + 0 }'; }
all_arrived() { [ "$(unread)" = 60000 ]; }
check "the peers' requests arrive" soon all_arrived
ip -n "$box-a" link set v0 down
exec 6>&-
wait "$peer"
check "the peer is gone and this side does not know" same "$(states)" "3 ESTAB 1 LISTEN"
check "young ones are not listed" lists "" --min-age 1h
check "old ones are" soon lists "3 established" --min-age 2s
check "looking changes nothing" same "$(states)" "3 ESTAB 1 LISTEN"
check "--min-age has to be said" bash -c '"$0" destroy --apply --pid "$1" 2>/dev/null; [ $? = 2 ]' "$RXSTALL" "$holder"

out=$("$RXSTALL" destroy --pid "$holder" --min-age 2s --apply --json 2>&1)
if grep -q CONFIG_INET_DIAG_DESTROY <<< "$out"; then
	skip "destroyed on request" "this kernel lacks CONFIG_INET_DIAG_DESTROY"
	exit
fi
check "destroyed on request" same "$(jq -r '.[].text' <<< "$out" | sort | uniq -c | sed 's/^ *//')" "3 destroyed"
check "with memory in their queues" same "$(jq 'map(select(.rmem > 0 and .unread == 20000)) | length' <<< "$out")" 3
check "which is free now" same "$(jq 'map(.rmem_after) | add' <<< "$out")" 0
check "they have left the tables" same "$(states)" "1 LISTEN"
check "and rxstall sees nothing held" same "$("$RXSTALL" sockets --pid "$holder" --json)" "[]"
check "their owner is told" same "$(tell send)" ECONNABORTED
