# SPDX-License-Identifier: GPL-2.0
#
# What the kernel changes and the tools ask of a kernel's configuration.
# Merge it into yours, from the top of the kernel tree:
#   scripts/kconfig/merge_config.sh .config .../Kconfig.frag
# Options that are on in every distribution are named all the same, so that
# a small configuration gets them too.

# The changes themselves: TCP, and the place where the sysctl is set.
CONFIG_NET=y
CONFIG_INET=y
# Same code path for TCP over IPv6, /proc/sys/net/ipv4 covers both.
CONFIG_IPV6=y
# /proc/sys/net/ipv4/tcp_purge_receive_queue. Without it the value stays 0.
CONFIG_SYSCTL=y
# /proc/net/netstat (the two counters), /proc/net/sockstat, /proc/PID/fd.
CONFIG_PROC_FS=y
# The sysctl is per network namespace.
CONFIG_NAMESPACES=y
CONFIG_NET_NS=y

# Beside PAGE_POOL, which network drivers select: the counters
# that netlink's page-pool-stats-get shows.
CONFIG_PAGE_POOL_STATS=y

# rxstall lists live sockets through sock_diag ...
CONFIG_INET_DIAG=y
CONFIG_INET_TCP_DIAG=y
# ... and `ss -K` works, for comparison.
CONFIG_INET_DIAG_DESTROY=y
# AF_UNIX: descriptors in flight are counted from its fdinfo.
CONFIG_UNIX=y

# page_pool:page_pool_release_stalled is a trace event. Trace events have no
# option of their own: one of the tracers brings them in. Events from uprobes
# are the smallest, and tracing programs of BPF need them.
CONFIG_FTRACE=y
CONFIG_PERF_EVENTS=y
CONFIG_UPROBE_EVENTS=y

# rxstall finds dead sockets fastest with a BPF iterator over all
# descriptors, a tracing program that needs the kernel's own types (BTF), which
# are made from debug information. Without these rxstall walks /proc.
CONFIG_BPF_SYSCALL=y
# CONFIG_DEBUG_INFO_NONE is not set
# Debug information and BTF are behind this one.
CONFIG_DEBUG_KERNEL=y
CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y
CONFIG_DEBUG_INFO_BTF=y
