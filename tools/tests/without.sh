#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernels and privileges that lack something: it is said once what is missing and
# what that takes away, the rest is done, and the status tells.
. "${0%/*}/lib.sh"

[ -x "$REPRODUCE" ] || { skip without "needs REPRODUCE, the program of selftests"; exit; }
reproduce fin-rst data-fin-rst unaccepted-fin

facts='map(del(.age_ms, .cookie, .error, .cpu, .pool_pages, .pool_unclear, .pools)) | sort_by(.inode)'
seen() { "$@" sockets --pid "$holder" --json 2> "$scratch/notes" | jq -cS "$facts"; }
said() { same "$(grep -c "$1" "$scratch/notes")" 1; }
all=$(seen "$RXSTALL" 2>&1)

# hidden DIRECTORY [KEPT] COMMAND...: with an empty directory over it, of which KEPT shows
# shellcheck disable=SC2016	# for the shell inside
hide='mount -t tmpfs none "$0" || exit 99; exec "$@"'
# shellcheck disable=SC2016
hide_but_btf='mkdir -p /tmp/btf.$$ && mount --bind /sys/kernel/btf /tmp/btf.$$ && mount -t tmpfs none /sys/kernel &&
	mkdir /sys/kernel/btf && mount --move /tmp/btf.$$ /sys/kernel/btf && rmdir /tmp/btf.$$ && exec "$@"'
without_btf() { unshare -m bash -c "$hide" /sys/kernel/btf "$@"; }
without_tracefs() { unshare -m --propagation private bash -c "$hide_but_btf" x "$@"; }
refuse() { local what=$1; shift; LD_PRELOAD=$TESTBIN/refuse.so REFUSE=$what "$@"; }
status_of() { "$@" > /dev/null 2> "$scratch/notes"; echo $?; }

check "without BTF: the same sockets" same "$(seen without_btf "$RXSTALL")" "$all"
check "without BTF: said once" said "walking /proc instead"
check "without BTF: a forced iterator is a failure" same \
	"$(status_of without_btf "$RXSTALL" sockets --method bpf)" 1
check "without BTF: release works" bash -c '
	[ "$("$@" release --json --pid "$0" 2> /dev/null | jq -r "[.[].action] | sort | join(\" \")")" = "leave leave receive" ]' \
	"$holder" unshare -m bash -c "$hide" /sys/kernel/btf "$RXSTALL"
check "without BTF: doctor names it" bash -c '"$@" doctor 2> /dev/null | grep -Eq "^BTF +no "' \
	x unshare -m bash -c "$hide" /sys/kernel/btf "$RXSTALL"

check "without tracefs: the same sockets" same "$(seen without_tracefs "$RXSTALL")" "$all"
check "without tracefs: pools still answers" same "$(status_of without_tracefs "$RXSTALL" pools --listen 1)" 0
check "without tracefs: said once" said "tracefs.*kernel log names them, after 60 s"
check "without tracefs: watch follows the log, and says what it misses" bash -c '
	[ "$0" = 0 ] && [ "$(grep -c "cannot see connections end" "$1")" = 1 ] &&
	[ "$(grep -c "only the kernel log tells" "$1")" = 1 ]' \
	"$(status_of without_tracefs "$RXSTALL" watch --for 0.2)" "$scratch/notes"

check "without the netdev family: pools still answers" same \
	"$(status_of refuse genl "$RXSTALL" pools --listen 0)" 0
check "without the netdev family: said once" said "the netdev family lists pools with their device"
check "without the netdev family: doctor names it" bash -c '
	LD_PRELOAD=$0 REFUSE=genl "$1" doctor 2> /dev/null | grep -Eq "^netdev page-pool-get +no "' \
	"$TESTBIN/refuse.so" "$RXSTALL"

check "refused as by Yama: the iterator still sees" same "$(seen refuse getfd "$RXSTALL")" "$all"
check "refused as by Yama: the walk counts who refused" bash -c '
	LD_PRELOAD=$0 REFUSE=getfd "$1" sockets --method walk | grep -Eq "^[0-9]+ process(es)? refused"' \
	"$TESTBIN/refuse.so" "$RXSTALL"
check "refused as by Yama: release is a failure" same \
	"$(status_of refuse getfd "$RXSTALL" release --apply --pid "$holder")" 1
check "refused as by Yama: and says what it takes" bash -c '
	LD_PRELOAD=$0 REFUSE=getfd "$1" release --apply --pid "$2" | grep -q CAP_SYS_PTRACE' \
	"$TESTBIN/refuse.so" "$RXSTALL" "$holder"
check "refused as by Yama: nothing was freed" same "$(seen "$RXSTALL")" "$all"

# Root in a container: it may list descriptors, but not see what they are.
poor=(setpriv --bounding-set=-all --inh-caps=-all)
check "root without capabilities: it counts who refused" bash -c '
	"$@" sockets --method walk --pid "$0" 2>/dev/null | grep -Eq "^[0-9]+ process(es)? refused"' \
	"$holder" "${poor[@]}" "$RXSTALL"

# What a verb does not need is gone before it does anything.
find='CAP_DAC_READ_SEARCH CAP_NET_ADMIN CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_PERFMON CAP_BPF'
log="${find/CAP_SYS_ADMIN/CAP_SYS_ADMIN CAP_SYSLOG}"
while read -r verb options; do
	[ "$verb" = sysctl ] && kept='CAP_NET_ADMIN CAP_SYS_PTRACE CAP_SYS_ADMIN' || kept=$log
	case $verb in sockets|release) kept=$find ;; esac
	# shellcheck disable=SC2086	# options are several words
	check "$verb keeps only what it needs" same \
		"$(strace -e trace=capset "$RXSTALL" "$verb" $options 2>&1 > /dev/null |
		   sed -n 's/.*permitted=\([^,]*\),.*/\1/p' | tr '|' '\n' | sed 's/.*\(CAP_[A-Z_]*\).*/\1/' | sort | tr '\n' ' ')" \
		"$(tr ' ' '\n' <<< "$kept" | sort | tr '\n' ' ')"
done <<< 'sockets
release
pools --listen 0
watch --for 0.1
sysctl
doctor
snapshot --listen 0 -'
