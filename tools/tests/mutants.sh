#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Does each trap have a test that notices? Every line breaks one thing in a copy
# of the sources; the named test must then fail. unit:FILTER is a GoogleTest
# filter, e2e:SCRIPT one of the scripts here (these need root and REPRODUCE). The
# scripts run under RUN, for example RUN="selftests/vm/run KERNEL --", all paths
# absolute.
#   mutants.sh DIRECTORY [WORD]     builds in DIRECTORY; only lines with WORD
set -u
cd "${0%/*}/.." || exit 1
work=${1:?a directory to build in}
only=${2:-}

# file | sed expression | test | which trap
table='
lib/borrow.cc|s/status.st_ino != inode/inode == 0/|unit:Borrow.AReused*|descriptor reuse
lib/borrow.cc|s/? sizeof(sockaddr_in6) : sizeof(sockaddr_in);/? 128 : 128;/|unit:Borrow.ADead*|exact length of SO_PEERNAME
lib/borrow.cc|s/^\tsocket.unread = /\t(void)option<int>(fd, SOL_SOCKET, SO_ERROR);\n&/|unit:Borrow.ADead*|SO_ERROR
lib/free.cc|s/fresh->cookie != planned.cookie/false/|unit:Free.*|cookie
lib/netdev_parse.cc|s/static_cast<int64_t>(\*value)/static_cast<uint32_t>(*value)/|unit:Netdev.Negative*|negative inflight (netlink)
lib/klog_parse.cc|s/parse_number<int64_t>(words\[0\])/parse_number<uint32_t>(words[0])/|unit:Klog.BothFormats|negative inflight (log)
lib/pools.cc|s/return Trend::negative;/return Trend::flat;/|unit:Pools.Negative*|negative inflight (trend)
lib/judge.cc|s/socket.state == State::listen/false/|unit:Filter.Listener*|Recv-Q of listeners (filter)
lib/diag_parse.cc|s/if (socket.state != State::listen)/if (true)/|unit:Diag.AListeners*|Recv-Q of listeners (sock_diag)
lib/diag_parse.cc|s/\t\tsocket.unread--;/\t\t;/|unit:Diag.TheFin*|the FIN counts in Recv-Q
lib/pools.cc|s/now - track->began)/track->began - 0 * now)/|unit:Pools.AgeComes*|detach-time
lib/klog_parse.cc|s/\*priority >= severities/*priority >= 9 * severities/|unit:Klog.OnlyTheKernels*|forged log lines
lib/text.cc|s/ c >= 0x7f/ false/|unit:Text.Foreign*|bytes above ASCII
lib/decide.cc|s/candidate.pid == 1/false/|unit:Decide.Protected*|PID 1
lib/decide.cc|s/socket.state != State::close/socket.rmem == 0/|unit:Decide.Reset*|reset of a live connection
lib/facts_parse.cc|s/string.size() > longest_string/false/|unit:Json.Wrong*|long strings
lib/free.cc|s/OnCpu pin(fresh->cpu);/;/|e2e:release|deferred list: the right CPU
release.cc|s/!kick_deferred()/false/|e2e:release|deferred list: the kick
lib/free.cc|s/recv(fd, nullptr, 0, MSG_DONTWAIT)/shutdown(fd, SHUT_RD)/|e2e:release|zero-length read
lib/walk.cc|s/std::binary_search(.*inode))/false)/|e2e:sockets|borrowed live sockets
lib/iter.bpf.c|s/\t\tbytes--;/\t\t;/|e2e:sockets|the FIN in BPF
lib/iter.bpf.c|s/inet_conn.icsk_inet.inet_sport/inet_conn.icsk_inet.sk.__sk_common.skc_dport/|e2e:sockets|ports in BPF
lib/connection_check.h|s/poll(&entry, 1, 0) < 0/recv(fd, \&answer, 1, MSG_PEEK bitor MSG_DONTWAIT) < -1 or &/|unit:ConnectionCheck.*|a look that takes the error
lib/guard_judge.cc|s/ !socket.age_ms / false /|unit:PlanRelease.OnlyWhat*|guard: unknown age
lib/guard_judge.cc|s/known_ = seen_;/;/|unit:Trigger.More*|guard: old news
lib/task.cc|s/kill(pid_, SIGKILL);/;/|unit:Task.OneThat*|guard: a scan that never ends
lib/metrics.cc|s/counts.contains(value)/true/|unit:Metrics.Names*|metrics: a label without bound
lib/metrics.cc|/negative++;/{n;s/continue//}|unit:Metrics.Negative*|metrics: negative inflight
lib/guard_release.cc|s/if (dry_run_) {/if (false) {/|e2e:guard|guard: dry run
lib/trace.cc|s/unlinkat(parent_.get(), /unlinkat(-1, /|e2e:watch|the tracefs instance stays
lib/trace.cc|s/unlinkat(parent_.get(), .*AT_REMOVEDIR)/rmdir(path_.c_str())/|e2e:guard|the tracefs instance stays when tracefs is unmounted
lib/guard_journal.cc|s/ \&\& said_.insert(text).second)/)/|unit:GuardJournal.*|guard: what is lost is said once
guard.cc|s/\&\& !trace_->on())/\&\& false)/|e2e:guard|guard: tracing that somebody switched off
lib/proc.cc|s/errno == EACCES ../0 \&\&/|e2e:without|root without capabilities sees nothing and says so
guard.cc|s/!looks_left_ \&\& //|e2e:guard|guard: a dump at every look
lib/guard_judge.cc|s/seen_.waiting -= .*/(void)waiting;/|unit:Trigger.AfterWaiting*|guard: freed sockets hide new ones
lib/glance.cc|s/visited_.try_emplace(cookie,/visited_.try_emplace(entry.netns.inode,/|e2e:guard|guard: namespaces of the same number (in a VM)
sysctl.cc|s/before_.erase(found);/return true;/|e2e:sysctl|sysctl: namespaces of the same number (in a VM)
lib/walk.cc|s/if (Stop::requested(request.stop))/if (false)/|unit:Stop.*|a signal ends a scan
lib/collect_pools.cc|s/if (entries\[1\].revents)/if (false)/|e2e:pools|the tracefs instance stays after a signal
lib/pools.cc|s/share.pool != view.key/false/|unit:Pools.Pages*|the holder of another pool
lib/pools.cc|s/view.exact &= !socket.pool_unclear;/;/|unit:Pools.Pages*|nobody holds it, says who does not know
lib/pools.cc|s/return report.hold == track.view.hold && /return /|unit:Pools.Invisible*|two pools that stall together
lib/pools.cc|s/pool.device = known.device;/pool.device = "";/|unit:Pools.Device*|the device that went is forgotten
lib/pages.bpf.h|s/\t\tpage_base = base;/\t\tpage_base = base + 64;/|e2e:pools|the page of the head of a segment
lib/pages.bpf.h|s/i < frags; i++/i < frags \&\& i < 0; i++/|e2e:incidents|pages of fragments
lib/iter.bpf.c|s/\t\tif (visit.request)$/\t\tif (0)/|e2e:incidents|connections reset before accept()
lib/iter.bpf.c|s/family == AF_UNIX \&\&/0 \&\&/|e2e:special|descriptors in flight
lib/iter.bpf.c|s/ \& SK_USER_DATA_PSOCK)/ \& 0)/|e2e:special|sockmap sockets
lib/proc_parse.cc|s/found.inodes.push_back(\*inode);/(void)inode;/|unit:Proc.Hidden*|io_uring files
lib/sockdiag.cc|s/ . NLM_F_DUMP;/;/|e2e:sockets|an exact lookup answers with the listener
lib/free.cc|s/!fd \&\& fd.error().code == EPERM/false/|e2e:without|a refusal is a failure
rxstall.cc|s/verb_sockets, finding/verb_sockets, reading/|e2e:without|capabilities that are not needed
'

copy=$work/sources
rm -rf "$copy"; mkdir -p "$copy"
cp -a . "$copy/"
read -ra run <<< "${RUN:-}"
survived=0

while IFS='|' read -r file expression test trap; do
	[ -n "$file" ] || continue
	case "$file|$expression|$test|$trap" in *"$only"*) ;; *) continue ;; esac
	cp "$file" "$copy/$file"
	sed -i "$expression" "$copy/$file"
	if cmp -s "$file" "$copy/$file"; then
		echo "not ok $trap: the expression changes nothing in $file"; survived=1
		continue
	fi
	case $test in
		unit:*) targets=("$work/out/unit-tests") ;;
		*) targets=("$work"/out/{rxstall,tests/{idle,pass.o,refuse.so}}) ;;
	esac
	if ! make -s -j2 -C "$copy" O="$work/out" CXXFLAGS="${CXXFLAGS:--O0 -g0}" "${targets[@]}" > "$work/log" 2>&1; then
		echo "not ok $trap: does not build, see $work/log"; survived=1
	else
		case $test in
			unit:*) command=(timeout 120 "$work/out/unit-tests" "--gtest_filter=${test#unit:}") ;;
			*) command=("${run[@]}" env "RXSTALL=$work/out/rxstall" "TESTBIN=$work/out/tests"
				    "REPRODUCE=${REPRODUCE:-}" "$copy/tests/${test#e2e:}.sh") ;;
		esac
		# what a mutant breaks may never end
		timeout 900 "${command[@]}" > "$work/log" 2>&1 < /dev/null
		status=$?
		failures=$(grep -cE '^not ok|FAILED  \] .*ms\)' "$work/log")
		if [ $status = 0 ]; then
			echo "not ok $trap: $test did not notice"; survived=1
		elif [ "$failures" = 0 ] && [ "${test%%:*} $status" != "unit 124" ]; then
			echo "not ok $trap: $test did not run to its end (status $status), see $work/log"; survived=1
		else
			echo "ok $trap: $test failed as it should ($failures failures)"
		fi
	fi
	cp -p "$file" "$copy/$file"; touch "$copy/$file"
done <<< "$table"
exit $survived
