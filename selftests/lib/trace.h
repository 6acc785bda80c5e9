// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints, read as text from a tracefs instance of our own, so that nobody
 * else's tracing is disturbed and nobody else's events come in. The instance is
 * removed with the object.
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "unique_fd.h"

namespace selftest {

/** One event: its name and its fields as the format string prints them. */
struct TraceEvent {
	std::string line;	/**< as the kernel printed it */
	std::string name;
	double seconds = 0;	/**< its time stamp, in the unit of the clock */
	std::map<std::string, std::string> fields;

	/** Field @name as a number; throws std::out_of_range without one. */
	[[nodiscard]] std::int64_t number(const std::string &name) const;
};

/**
 * Splits a line of trace_pipe, "comm-pid [cpu] flags time: event: a=1 b=2";
 * the name is empty if it has not that form.
 */
TraceEvent parse_trace_line(std::string_view line);

/**
 * How addresses are printed. Real ones tell objects apart: a hashed one may be
 * "(____ptrval____)" as long as the kernel makes its key (__ptr_to_hashval()).
 * But beside them Linux 6.1 prints nothing for a field that is a word.
 */
enum class Addresses { real, hashed };

/**
 * By what events are stamped: processor time in seconds, or jiffies in hundredths
 * of a second, which on a busy machine go slower.
 */
enum class Stamps { local, jiffies };

class Trace {
public:
	/**
	 * An instance that records @events, each "system/event" or
	 * "system/event:filter". Throws std::system_error; needs root and
	 * tracefs.
	 */
	explicit Trace(const std::vector<std::string> &events,
		       Addresses addresses = Addresses::real,
		       Stamps stamps = Stamps::local);
	~Trace();
	Trace(const Trace &) = delete;
	Trace &operator=(const Trace &) = delete;

	/** Whether this kernel has the event. */
	static bool has_event(std::string_view system, std::string_view name);

	/** The format file of an event. */
	static std::string format(std::string_view system, std::string_view name);

	/** What was recorded since the last call; does not wait. */
	std::vector<TraceEvent> read();

private:
	std::string path_;
	unique_fd pipe_;
	std::string partial_;
};

} // namespace selftest
