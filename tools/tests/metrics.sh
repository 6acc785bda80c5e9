#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The metrics of a known state, as text that promtool accepts and as a file that is
# whole or not there.
. "${0%/*}/lib.sh"

[ -x "$REPRODUCE" ] || { skip metrics "needs REPRODUCE, the program of selftests"; exit; }

value() { sed -n "s/^$1 //p" "$scratch/text"; }
# at_least SERIES NUMBER: other processes of this host may have dead sockets, too
at_least() { [ "$(value "$1")" -ge "$2" ] || { value "$1"; return 1; }; }

"$RXSTALL" metrics --listen 0 > "$scratch/text" || { check "metrics" false; exit; }
cp "$scratch/text" "$scratch/before"
reproduce fin-rst data-fin-rst fin
"$RXSTALL" metrics --listen 0 > "$scratch/text"
check "FIN only in CLOSE" at_least 'rxstall_dead_sockets{state="close",class="fin-only"}' 1
check "FIN only in CLOSE-WAIT" at_least 'rxstall_dead_sockets{state="close-wait",class="fin-only"}' 1
check "payload in CLOSE" at_least 'rxstall_dead_sockets{state="close",class="payload"}' 1
check "bytes held" at_least 'rxstall_dead_socket_receive_bytes{state="close",class="fin-only"}' 1
check "the holder's part of its descriptor limit" bash -c \
	'awk "/^rxstall_process_dead_descriptors_ratio/ { exit !(\$2 > 0 && \$2 < 1) }" "$0"' "$scratch/text"
check "no guard" same "$(value rxstall_guard_running)" 0
check "the same series whatever is held" same \
	"$(sed 's/ [^ ]*$//' "$scratch/text")" "$(sed 's/ [^ ]*$//' "$scratch/before")"

mkdir "$scratch/textfile"
check "a textfile" "$RXSTALL" metrics --listen 0 --textfile "$scratch/textfile/rxstall.prom"
check "nothing beside it, readable by node_exporter" same \
	"$(stat -c '%a %n' "$scratch"/textfile/*)" "644 $scratch/textfile/rxstall.prom"
check "synced before it is renamed" bash -c '
	strace -f -e trace=fsync,rename "$0" metrics --listen 0 --textfile "$1" 2>&1 >/dev/null |
	grep -oE "fsync|rename" | paste -sd " " | grep -qx "fsync rename"' "$RXSTALL" "$scratch/textfile/rxstall.prom"
check "a folder that is not there is a failure" bash -c '
	"$0" metrics --listen 0 --textfile "$1/none/x.prom" 2>/dev/null; [ $? = 1 ]' "$RXSTALL" "$scratch"
"$RXSTALL" snapshot --listen 0 "$scratch/s.json"
check "from a snapshot, without privilege" bash -c '
	chmod 755 "$1" && chmod 644 "$1/s.json" && cp "$0" "$1/rxstall" &&
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all \
		"$1/rxstall" metrics --from "$1/s.json" | grep -q "^rxstall_dead_sockets{"' "$RXSTALL" "$scratch"
release_holder
