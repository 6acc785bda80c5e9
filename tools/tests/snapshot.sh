#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A snapshot says elsewhere, without privilege, what the host said; and what does
# without privilege or kernel features is named.
. "${0%/*}/lib.sh"

[ -x "$REPRODUCE" ] || { skip snapshot "needs REPRODUCE, the program of selftests"; exit; }
chmod 755 "$scratch"
cp "$RXSTALL" "$scratch/rxstall"

reproduce fin-rst data-fin unaccepted-fin
file=$scratch/s.json
check "it is written" "$RXSTALL" snapshot --listen 0 "$file"
check "readable by its owner only" same "$(stat -c %a "$file")" 600
chmod 644 "$file"
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"; }

ours='.[] | "\(.state) \(.class) \(.rmem) \(.sport) \(.dport) \(.owners[0].fd)"'
check "the same sockets as on the host" same \
	"$(nobody "$scratch/rxstall" sockets --from "$file" --pid "$holder" --json | jq -r "$ours")" \
	"$("$RXSTALL" sockets --pid "$holder" --json | jq -r "$ours")"
for verb in pools doctor sysctl; do
	check "$verb reads it without privilege" nobody "$scratch/rxstall" $verb --from "$file"
done
check "no payload in it" bash -c '! grep -q "xxxxx" "$0"' "$file"

check "a cut file is refused" bash -c 'head -c 1000 "$1" > "$1.cut"; "$0" sockets --from "$1.cut" 2>/dev/null; [ $? = 1 ]' "$RXSTALL" "$file"
check "a wrong field is named" bash -c '
	sed "s/\"rmem\": [0-9]*/\"rmem\": -1/" "$1" > "$1.bad"
	"$0" sockets --from "$1.bad" 2>&1 | grep -q "sockets\[0\].rmem: number does not fit"' "$RXSTALL" "$file"
check "a pipe is refused" bash -c '"$0" sockets --from /dev/zero 2>/dev/null; [ $? = 1 ]' "$RXSTALL"
check "no half-written file" bash -c '
	"$0" snapshot --listen 0 "$1/none/s.json" 2>/dev/null; [ $? = 1 ] && [ ! -e "$1/none" ]' "$RXSTALL" "$scratch"
check "a hostile name does not reach the terminal" bash -c '
	jq ".sockets[0].owners[0].comm = \"\u001b[2J\"" "$1" > "$1.esc"
	! "$0" sockets --from "$1.esc" | grep -q "$(printf "\033")"' "$RXSTALL" "$file"

# Without privilege: what is missing is said, the rest is done.
out=$(nobody "$scratch/rxstall" sockets 2>&1)
check "without root it falls back and says so" grep -q "walking /proc instead" <<< "$out"
check "without root refusals are counted" grep -q "refused to be looked at" <<< "$out"
check "without BPF privilege the walk gives the answer" bash -c '
	setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all "$0" sockets --pid "$1" --json 2>/dev/null |
	jq -e "length > 0"' "$RXSTALL" "$holder"
check "without ptrace privilege release fails, and says why" bash -c '
	out=$(setpriv --reuid 65534 --clear-groups --bounding-set=-sys_ptrace --inh-caps=-all \
		"$2" sockets --method walk --pid "$1" 2>&1); grep -q "refused" <<< "$out"' "$RXSTALL" "$holder" "$scratch/rxstall"
release_holder

# doctor and sysctl on a kernel without the knob
if [ ! -e /proc/sys/net/ipv4/tcp_purge_receive_queue ]; then
	check "sysctl names what the kernel lacks" bash -c '
		out=$("$0" sysctl 2 2>&1); [ $? = 1 ] && grep -q "rxstall release" <<< "$out"' "$RXSTALL"
	check "doctor says the kernel cannot" bash -c '"$0" doctor | grep -q "cannot free such queues"' "$RXSTALL"
fi
check "doctor ends with a next step" bash -c '"$0" doctor | tail -1 | grep -q "^Next: "' "$RXSTALL"
check "sysctl refuses 3" bash -c '"$0" sysctl 3 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
check "--follow needs --all" bash -c '"$0" sysctl 2 --follow 2>/dev/null; [ $? = 2 ]' "$RXSTALL"
check "every verb has --help" bash -c '
	for verb in $("$0" --help | sed -n "s/^  \([a-z]*\) .*/\1/p"); do "$0" $verb --help > /dev/null || exit 1; done' "$RXSTALL"
