# SPDX-License-Identifier: GPL-2.0
# bash completion for rxstall. Verbs and options come from --help, so there is
# one list of them.
# shellcheck shell=bash

_rxstall() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
	local list

	if [ "$COMP_CWORD" = 1 ]; then
		list=$(rxstall --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
	else
		case $before in
		--method) list="bpf walk" ;;
		--state|state) list="close close-wait last-ack closing established connected dead all" ;;
		--group) list="process unit netns state class peer dst dport sport" ;;
		-N|--net) list=$(ls /run/netns 2>/dev/null) ;;
		--from|--textfile|--guard-state) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
		*)
			if [[ $word == -* ]]; then
				list=$(rxstall "$verb" --help 2>/dev/null | grep -o -- '--[a-z-]*\|^  -[A-Za-z0-9]')
			elif [ "$verb" = sysctl ]; then
				list="0 1 2"
			elif [ "$verb" = snapshot ]; then
				mapfile -t COMPREPLY < <(compgen -f -- "$word")
				return
			else
				list="state sport dport src dst and"
			fi ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}
complete -F _rxstall rxstall
