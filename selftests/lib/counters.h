// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel counts for the calling thread's network namespace: the TCP
 * SNMP counters that nstat shows, and the socket totals of sockstat.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace selftest {

/**
 * The counters of /proc/net/netstat and /proc/net/snmp, keyed as nstat prints
 * them, prefix and name run together: "TcpExtTCPChallengeACK", "TcpInSegs".
 * Signed: Tcp MaxConn is -1.
 */
class Counters {
public:
	/** Reads them now. */
	static Counters read();

	/** Whether this kernel has the counter. */
	[[nodiscard]] bool has(const std::string &name) const;

	/** Its value; throws std::out_of_range naming it if there is none. */
	[[nodiscard]] std::int64_t operator[](const std::string &name) const;

	/** How much @name has grown since @before. */
	[[nodiscard]] std::int64_t since(const Counters &before,
					 const std::string &name) const
	{
		return (*this)[name] - before[name];
	}

private:
	[[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;

	std::string text_;	/* looked through when asked: most are not */
};

/** The TCP line of /proc/net/sockstat. */
struct Sockstat {
	std::int64_t inuse;	/**< hashed IPv4 sockets of this namespace */
	std::int64_t orphan;	/**< closed by their process, whole machine */
	std::int64_t tw;	/**< in TIME_WAIT, this namespace */
	std::int64_t alloc;	/**< TCP sockets allocated, whole machine */
	std::int64_t mem;	/**< pages of buffer memory, whole machine */

	static Sockstat read();
};

} // namespace selftest
