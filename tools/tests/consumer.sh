#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Why 2 is recommended on brokers: a consumer's last request is unread when its RST
# comes. 1 loses it, and the call says so; 2 keeps it.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

knob=net/ipv4/tcp_purge_receive_queue
[ -e /proc/sys/$knob ] || { skip consumer "this kernel has no tcp_purge_receive_queue"; exit; }

# play VALUE: request, FIN, RST with the sysctl at VALUE
play() {
	wired_boxes && ip netns exec "$box-b" sh -c "echo $1 > /proc/sys/$knob" &&
		connections 198.51.100.2 1 "$box-a" "$box-b" && from_peer data && from_peer reset
}

play 1 || { check "the state can be made" false; exit; }
check "with 1 nothing is held" same "$("$RXSTALL" sockets --pid "$holder" --json)" "[]"
check "with 1 the request is lost and the broker is told" same "$(tell error)" ECONNRESET
end_connections
cleanup
play 2 || { check "the state can be made" false; exit; }
check "with 2 it is held" same "$("$RXSTALL" sockets --pid "$holder" --json | jq -r '.[] | "\(.class) \(.unread)"')" "payload 20000"
check "with 2 the request is read" same "$(tell recv)" 1
