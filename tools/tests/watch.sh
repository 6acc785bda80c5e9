#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The incident as watch tells it, and that it leaves nothing behind.
. "${0%/*}/lib.sh"
. "${0%/*}/incident.sh"

"$RXSTALL" watch > "$scratch/text" 2> "$scratch/errors" &
watch=$!
started+=("$watch")
"$RXSTALL" watch --json > "$scratch/json" 2>> "$scratch/errors" &
json=$!
started+=("$json")
for _ in $(seq 60); do [ "$(instances "$watch")" = 1 ] && break; sleep 0.1; done
check "it works in an instance of its own" same "$(instances "$watch")" 1

incident 3 || { check "the incident can be made" false; exit; }
check "each death is told, with its owner" wait_for "$scratch/text" "socket died: idle\[$holder\].*fin-only, [1-9][0-9]* bytes held, 0 unread, error EPIPE"
sleep 1.5
check "each death is told once" same "$(grep -c "socket died: idle\[$holder\]" "$scratch/text")" 3
check "the JSON lines say the same" same \
	"$(jq -r "select(.event == \"socket_died\" and .owners[0].pid == $holder) | .class" "$scratch/json" | sort | uniq -c | sed 's/^ *//')" \
	"3 fin-only"

remove_device
check "the stalled pool is told" wait_for "$scratch/text" "pool .* stalled for .* in flight"
check "with its holders, exactly" grep -q "stalled for .*held by idle\[$holder\] (3 sockets)" "$scratch/text"
check "with the device that has gone" grep -q "pool .* of v1 stalled for" "$scratch/text"
sleep 2
check "an unchanged pool is told once" same "$(grep -c "stalled for" "$scratch/text")" 1
"$RXSTALL" release --apply --pid "$holder" > /dev/null
check "the release is told, with the device" wait_for "$scratch/text" "pool .* of v1 released after [0-9]* s"

kill -TERM "$watch"; kill -TERM "$watch"; kill -INT "$watch" 2>/dev/null
wait "$watch"
check "an orderly end is no failure" same $? 0
check "its instance is gone" same "$(instances "$watch")" 0

kill -KILL "$json"
wait "$json" 2>/dev/null
check "killed, its instance stays" same "$(instances "$json")" 1
"$RXSTALL" watch --for 0.2 > /dev/null 2>&1
check "the next run removes it" same "$(instances "$json")" 0
"$RXSTALL" watch > /dev/null 2>&1 &
watch=$!
started+=("$watch")
for _ in $(seq 60); do [ "$(instances "$watch")" = 1 ] && break; sleep 0.1; done
kill -INT "$watch"
wait "$watch"
check "SIGINT once is enough" same "$? $(instances "$watch")" "0 0"

# Nothing is waited for between the signal and the end: true on a busy machine, too.
strace -o "$scratch/calls" -e trace=poll,ppoll,clock_nanosleep,exit_group "$RXSTALL" watch > /dev/null 2>&1 &
traced=$!
started+=("$traced")
for _ in $(seq 300); do grep -q "^poll.*, 3, " "$scratch/calls" 2> /dev/null && break; sleep 0.1; done
kill -TERM "$(pgrep -P "$traced")"
wait "$traced"
check "the signal ends the wait, and no other follows" same \
	"$(tail -3 "$scratch/calls" | sed -n 's/^poll.*= \([0-9]*\).*/poll \1/p; s/^\([a-z_]*\)(.*/\1/p' | grep -v '^poll$' | tr '\n' ' ')" \
	"poll 1 exit_group "
check "a reader that goes away ends it without a trace" bash -c '
	"$0" watch --for 1 2>/dev/null | head -c0; exit 0' "$RXSTALL"
