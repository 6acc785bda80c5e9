#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each state of reproduce's table, as both methods see it.
. "${0%/*}/lib.sh"

[ -x "$REPRODUCE" ] || { skip sockets "needs REPRODUCE, the program of selftests"; exit; }

# state, class and unread bytes of all sockets of a process, sorted
seen() {
	"$RXSTALL" sockets --pid "$holder" --json "$@" |
		jq -r '.[] | "\(.state) \(.class) \(.unread)"' | sort | uniq -c | sed 's/^ *//'
}

# table CASE BPF [WALK]: what each method must say; the walk says the same by default
table() {
	local case=$1 bpf=$2 walk=${3-$2}
	reproduce "$case" || { check "$case" false; return; }
	check "$case by bpf" same "$(seen --method bpf)" "$bpf"
	check "$case by walk" same "$(seen --method walk)" "$walk"
	release_holder
}

table both-alive ""
table live-unread ""
table fin "1 close-wait fin-only 0"
table data-fin "1 close-wait payload 107"
table fin-rst "1 close fin-only 0"
table sarama-seed "1 close fin-only 0"
table late-write "1 close fin-only 0"
table data-fin-rst "1 close payload 20"
table half-read "1 close payload 10"
table all-read "1 close fin-only 0"
table fin-rst-beyond "1 close-wait fin-only 0"
table data-rst "1 close payload 20"
# a descriptor does not tell these two apart from a FIN; the walk says so
table out-of-order "1 close out-of-order 0" "1 close unclear 0"
table stamps "1 close error-queue 0" "1 close unclear 0"
table half-closed "1 close fin-only 0"
table half-closed-first "1 close fin-only 0"
table refused ""
table unaccepted-fin "1 close-wait payload 20"

# Every fact but those that only BPF knows, or that a clock moves, is equal.
facts() {
	"$RXSTALL" sockets --pid "$holder" --json "$@" |
		jq -S 'map(del(.age_ms, .cookie, .error, .cpu, .pool_pages, .class, .out_of_order, .error_queue))'
}
reproduce -6 fin-rst data-fin-rst unaccepted-fin fin
check "both methods give the same facts" same "$(facts --method walk)" "$(facts --method bpf)"
check "names are complete" same \
	"$("$RXSTALL" sockets --pid "$holder" --json | jq '[.[] | select(.sport == 0 or .dport == 0 or .dst == "")] | length')" 0
check "the namespace is that of the process" same \
	"$("$RXSTALL" sockets --pid "$holder" --json | jq -r '[.[].netns] | unique | "net:\(.)"')" \
	"$(readlink "/proc/$holder/ns/net")"
check "-4 finds none of them" same "$("$RXSTALL" sockets -4 --pid "$holder" --json)" "[]"
check "filter by state" same \
	"$("$RXSTALL" sockets --pid "$holder" --json state close-wait | jq length)" 2
check "group by process and port" same \
	"$("$RXSTALL" sockets --pid "$holder" --group process,dport --json dport = :9092 | jq -r '.[] | "\(.sockets) \(.dport)"')" \
	"3 9092"
check "unaccepted is named as such" same \
	"$("$RXSTALL" sockets --pid "$holder" --json | jq -r '[.[].owners[].holder] | unique | join(" ")')" \
	"process unaccepted"
check "young sockets are left out by --min-age" same "$("$RXSTALL" sockets --pid "$holder" --min-age 1h --json)" "[]"
release_holder

reproduce live-unread
check "unread data of a live connection shows with --state all" same \
	"$("$RXSTALL" sockets --pid "$holder" --state all --json | jq -r '.[] | "\(.state) \(.class)"')" \
	"established payload"
release_holder

# Looking must not take the error that the application has yet to see.
reproduce data-rst
"$RXSTALL" sockets --pid "$holder" --method walk > /dev/null
check "no read of SO_ERROR by either method" bash -c '
	out=$(strace -f -e trace=getsockopt "$0" sockets --method walk --pid "$1" 2>&1) &&
	grep -q TCP_INFO <<< "$out" && ! grep -q SO_ERROR <<< "$out"' "$RXSTALL" "$holder"
check "SO_PEERNAME with the exact length" bash -c '
	strace -f -e trace=getsockopt "$0" sockets --method walk --pid "$1" 2>&1 | grep "SO_PEERNAME" | grep -vq "= -1"' \
	"$RXSTALL" "$holder"
release_holder

# An exact lookup in sock_diag of a dead socket's names answers with its listener.
reproduce fin-rst
check "sock_diag is only ever asked for all" bash -c '
	out=$(strace -f -e trace=sendto "$0" sockets --method walk 2>&1 | grep TCPDIAG_GETSOCK)
	[ -n "$out" ] && ! grep -vq NLM_F_DUMP <<< "$out"' "$RXSTALL"
release_holder

# A live socket is never borrowed: its FIN and its port would wait for us.
reproduce both-alive live-unread
check "live sockets are not borrowed" bash -c '
	! strace -f -e trace=pidfd_open "$0" sockets --method walk 2>&1 | grep -q "pidfd_open($1,"' \
	"$RXSTALL" "$holder"
release_holder

check "usage error gives 2" bash -c '"$0" sockets --nonsense 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
check "bad filter gives 2" bash -c '"$0" sockets dport :99999 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
check "no verb gives 2" bash -c '"$0" 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
check "a full device is a failure" bash -c '"$0" sockets > /dev/full 2>/dev/null; [ $? = 1 ]' "$RXSTALL"
