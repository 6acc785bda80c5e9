#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sockets that something besides a descriptor or plain TCP has to do with: named
# or counted, and never released.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

local_box "$box-c"
sockets() { "$RXSTALL" sockets --pid "$holder" --json "$@"; }
actions() { "$RXSTALL" release --apply --discard-unread --reset --pid "$holder" --json "$@" | jq -r '.[] | "\(.action) \(.rmem_after > 0)"'; }

# under COMMAND: one connection, put under something, then ended by its peer
under() {
	connections 127.0.0.1 1 "$box-c" "$box-c" || return 1
	[ "$(tell "$1")" = 0 ] && from_peer reset
}

if under ktls; then
	for method in bpf walk; do
		check "kTLS is left alone ($method)" same "$(actions --method $method)" "leave true"
	done
	check "kTLS: its class of owner is named" same "$(sockets | jq -r '.[].ulp')" tls
else
	skip "kTLS" "no kTLS here: $(tail -1 "$scratch/hold")"
fi
end_connections

if under sockmap; then
	check "a sockmap's socket is left alone (bpf)" same "$(actions --method bpf)" "leave true"
	check "a sockmap's socket keeps its queue (walk), and that is a failure" bash -c '
		"$0" release --apply --method walk --pid "$1" --json > "$2"
		[ $? = 1 ] && jq -e ".[0].failed and .[0].rmem_after > 0" "$2"' "$RXSTALL" "$holder" "$scratch/out"
else
	skip "sockmap" "no sockmap here: $(tail -1 "$scratch/hold")"
fi
end_connections

export IDLE_PROTOCOL=262
if connections 127.0.0.1 1 "$box-c" "$box-c"; then
	from_peer data; from_peer fin
	# the walk does not look at what sock_diag lists, as it does these
	check "MPTCP is counted (bpf)" bash -c '
		"$0" sockets --method bpf | grep -q "MPTCP socket.* left alone"' "$RXSTALL"
	for method in bpf walk; do
		check "MPTCP is left alone ($method)" same "$(actions --method $method)" ""
	done
	check "MPTCP: its data is there" same "$(tell recv)" 1
	end_connections
else
	skip "MPTCP" "no MPTCP here"
fi
unset IDLE_PROTOCOL

if under pass; then
	check "in flight: named with the receiver (bpf)" same \
		"$(sockets --method bpf | jq -r '.[] | "\(.class) \(.owners[0].holder) \(.owners[0].comm)"')" "fin-only in_flight idle"
	check "in flight: counted with the receiver (walk)" bash -c '
		"$0" sockets --method walk | grep -q "1 descriptor in flight on a unix socket: idle\[$1\]"' "$RXSTALL" "$holder"
	check "in flight: out of reach for release" same "$(actions --method bpf)" "leave true"
else
	skip "in flight" "$(tail -1 "$scratch/hold")"
fi
end_connections

if under ring; then
	check "io_uring file: named with its process" bash -c '
		"$0" sockets | grep -q "1 socket registered with io_uring: idle\[$1\]"' "$RXSTALL" "$holder"
	check "io_uring file: in the JSON of a snapshot" same \
		"$("$RXSTALL" snapshot --listen 0 - 2>/dev/null | jq -r ".hidden.holders[] | select(.pid == $holder) | .holder")" io_uring
else
	skip "io_uring" "no io_uring here: $(tail -1 "$scratch/hold")"
fi
end_connections
