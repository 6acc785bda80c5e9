#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What release does to each state, and what it must not do.
. "${0%/*}/lib.sh"

[ -x "$REPRODUCE" ] || { skip release "needs REPRODUCE, the program of selftests"; exit; }

# outcome OPTIONS...: action, and whether memory was held before and after, sorted. How
# much a segment holds differs from kernel to kernel.
outcome() {
	"$RXSTALL" release --apply --pid "$holder" --json "$@" |
		jq -r 'def held: if . > 0 then "held" else "free" end;
			.[] | "\(.action) \(.rmem | held) \(.rmem_after | held)"' | sort | uniq -c | sed 's/^ *//'
}

for method in bpf walk; do
	reproduce fin
	check "FIN only, still CLOSE_WAIT ($method)" same "$(outcome --method $method)" "1 receive held free"
	release_holder

	reproduce data-fin-rst
	check "payload is left alone ($method)" same "$(outcome --method $method)" "1 leave held held"
	check "payload goes with --discard-unread ($method)" same \
		"$(outcome --method $method --discard-unread)" "1 discard held free"
	release_holder

	reproduce out-of-order
	check "out of order is left alone ($method)" same \
		"$(outcome --method $method --discard-unread)" "1 leave held held"
	check "out of order goes with --reset ($method)" same \
		"$(outcome --method $method --reset)" "1 reset held free"
	release_holder

	reproduce unaccepted-fin
	check "not accepted: out of reach ($method)" same \
		"$(outcome --method $method --discard-unread --reset | cut -d' ' -f2)" leave
	release_holder
done

reproduce live-unread both-alive
check "live connections are never touched" same \
	"$("$RXSTALL" release --apply --discard-unread --reset --pid "$holder" --state all --json | jq -r '[.[].action] | unique | join(" ")')" \
	leave
release_holder

# The traps are in the calls: which they are, and on which CPU.
reproduce fin-rst
calls=$(strace -f -e trace=recvfrom,getsockopt,sched_setaffinity,connect,shutdown,sendto \
	"$RXSTALL" release --apply --pid "$holder" 2>&1 > /dev/null)
check "SO_ERROR is not read" bash -c '! grep -q SO_ERROR <<< "$0"' "$calls"
check "the read asks for nothing" grep -q 'recvfrom(.*, NULL, 0, MSG_DONTWAIT' <<< "$calls"
check "the read is pinned to a CPU" bash -c \
	'grep -B2 "recvfrom(.*, NULL, 0, MSG_DONTWAIT" <<< "$0" | grep -q sched_setaffinity' "$calls"
check "every CPU is kicked afterwards" bash -c '
	[ "$(sed "1,/recvfrom(.*NULL, 0/d" <<< "$0" | grep -c "sendto(.*127.0.0.1")" = "$(nproc)" ]' "$calls"
check "neither shutdown() nor connect()" bash -c '! grep -Eq "shutdown|connect\(.*AF_UNSPEC" <<< "$0"' "$calls"
release_holder
