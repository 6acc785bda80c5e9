#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The incident with a page pool, seen and released.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

stalled() {
	"$RXSTALL" pools --listen 1.5 --json | jq "[.[] | select(.listed | not)] | length"
}
before=$(stalled)

incident 100 || { check "the incident can be made" false; exit; }
check "its sockets are found" same \
	"$("$RXSTALL" sockets --pid "$holder" --json | jq -r '.[] | "\(.state) \(.class)"' | sort | uniq -c | sed 's/^ *//')" \
	"100 close fin-only"
check "they sit in page-pool memory" same \
	"$("$RXSTALL" sockets --pid "$holder" --method bpf --json | jq -r '[.[].pool_pages] | unique | join(" ")')" yes
check "the pool is in use: not reported" same "$(stalled)" "$before"

remove_device
check "the pool shows, though netlink does not list it" same "$(stalled)" $((before + 1))

# Which sockets keep pages of which pool: exactly, and nobody else is named.
guilty=$holder
reproduce fin-rst || check "an innocent dead socket" false
innocent=$holder holder=$guilty
join=$("$RXSTALL" pools --listen 1.5 --json | jq -c ".[] | select(.holders[].pid == $holder)")
check "the join names the process, its sockets and all pages" same \
	"$(jq -r '"\(.holders_exact) \(.holders | length) \(.holders[0].sockets) \(.pages_reached == .inflight)"' <<< "$join")" \
	"true 1 100 true"
check "the table says the same" bash -c '
	"$0" pools --listen 1.5 | grep -Eq "idle\[$1\] \(100 sockets\), ([0-9]+) of \1 pages"' "$RXSTALL" "$holder"
check "an innocent dead socket is not named" same \
	"$("$RXSTALL" pools --listen 1.5 --json | jq "[.[].holders[] | select(.pid == $innocent)] | length")" 0
check "it holds no pages, the others do" same \
	"$("$RXSTALL" sockets --json | jq -r ".[] | select(.owners[0].pid == ($innocent, $holder)) |
		\"\(.owners[0].pid == $holder) \([.pools[].pages] | add // 0 | . > 0)\"" | sort | uniq -c | sed 's/^ *//')" \
	"$(printf '1 false false\n100 true true')"
check "the walk calls it a guess" bash -c '
	"$0" pools --listen 5 --method walk | tail -1 | grep -q "^holders not known: guess"' "$RXSTALL"
check "looking leaves no tracefs instance" same "$(instances '*')" 0
"$RXSTALL" pools --listen 60 > "$scratch/ended" &
ended=$!
for _ in $(seq 100); do [ "$(instances "$ended")" = 1 ] && break; sleep 0.05; done
kill -TERM "$ended"; kill -TERM "$ended"
wait "$ended"
check "ended early it tells what it knows and leaves no instance" same "$? $(grep -c idle "$scratch/ended") $(instances "$ended")" "0 1 0"

# Who looks must not free: the dry run changes nothing.
"$RXSTALL" release --pid "$holder" > /dev/null
check "a dry run frees nothing" same "$("$RXSTALL" sockets --pid "$holder" --json | jq length)" 100
check "release --apply frees all" same \
	"$("$RXSTALL" release --apply --pid "$holder" --json | jq -r '[.[].rmem_after] | add')" 0
check "nothing is held any more" same "$("$RXSTALL" sockets --pid "$holder" --json)" "[]"
check "the pool goes within 2 s" same "$(stalled)" "$before"
check "recv() still says end of file" same "$(tell recv)" 0
check "send() still says EPIPE" same "$(tell send)" EPIPE
