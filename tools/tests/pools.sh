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
check "the table names the holder" bash -c '"$0" pools --listen 1.5 | grep -q "holders: sockets in page-pool memory.*idle\["' "$RXSTALL"
check "looking leaves no tracefs instance" same "$(instances '*')" 0

# Who looks must not free: the dry run changes nothing.
"$RXSTALL" release --pid "$holder" > /dev/null
check "a dry run frees nothing" same "$("$RXSTALL" sockets --pid "$holder" --json | jq length)" 100
check "release --apply frees all" same \
	"$("$RXSTALL" release --apply --pid "$holder" --json | jq -r '[.[].rmem_after] | add')" 0
check "nothing is held any more" same "$("$RXSTALL" sockets --pid "$holder" --json)" "[]"
check "the pool goes within 2 s" same "$(stalled)" "$before"
check "recv() still says end of file" same "$(tell recv)" 0
check "send() still says EPIPE" same "$(tell send)" EPIPE
