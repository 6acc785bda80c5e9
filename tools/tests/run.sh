#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the end-to-end tests given, or all, and sums up.
cd "${0%/*}" || exit 1
[ $# -gt 0 ] || set -- sockets release pools watch incidents special without snapshot sysctl metrics guard pool destroy consumer sarama
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
failed=0
echo "KTAP version 1"
for name; do
	if ./"$name".sh; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
done
exit $failed
