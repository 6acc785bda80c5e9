// SPDX-License-Identifier: GPL-2.0
/*
 * What one sequence of the storm does: a connection, the segments of its peer
 * and the calls of its application, all of it from one number. The same number
 * gives the same script on every machine, so a failure can be played again.
 */
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lib/scenario.h"

namespace storm {

using namespace selftest;

/** Numbers from a seed; same on every machine, unlike std's distributions. */
class Random {
public:
	explicit Random(std::uint64_t seed) : engine_(seed) {}

	/** 0 to @n - 1; @n is at least 1. */
	std::size_t below(std::size_t n) { return engine_() % n; }
	/** @low to @high, both included. */
	std::int64_t between(std::int64_t low, std::int64_t high)
	{
		return low + static_cast<std::int64_t>(
				     below(static_cast<std::size_t>(high - low + 1)));
	}
	/** True in @percent of all cases. */
	bool chance(std::size_t percent) { return below(100) < percent; }
	template <class List> auto pick(const List &list)
	{
		return list[below(std::size(list))];
	}

private:
	std::mt19937_64 engine_;
};

enum class Act {
	/* The peer. */
	payload,	/**< @size bytes at position @at, with @flags more */
	rst,		/**< @at beyond the next number awaited, @size bytes in it */
	beyond,		/**< payload from @at before the FIN to @size behind it */
	syn,		/**< a SYN in the window */
	bare_ack,	/**< with the window @at */
	/* The application. */
	accept,		/**< takes the connection out of the listener's queue */
	recv,		/**< @size, @flags as recv() takes them */
	splice,		/**< up to @size */
	zerocopy,	/**< TCP_ZEROCOPY_RECEIVE with @size for copies */
	oob,		/**< recv(MSG_OOB) */
	send,		/**< @size bytes, @flags as send() takes them */
	so_error,
	facts,		/**< poll(), FIONREAD, SO_MEMINFO */
	low_water,	/**< SO_RCVLOWAT = @size */
	peek_offset,	/**< SO_PEEK_OFF = @at */
	shut,		/**< shutdown(@flags) */
	close,
	sysctl,		/**< net.ipv4.tcp_purge_receive_queue = @at */
};

struct Step {
	Act act{};
	std::int64_t at = 0;
	std::size_t size = 0;
	int flags = 0;
};

/** Bits of Step.flags for the peer's segments beside those of TCP itself. */
enum : int {
	stale_stamp = 1 << 16,	/**< a timestamp that PAWS refuses */
	no_options = 1 << 17,	/**< none at all, on whatever connection */
};

struct Script {
	std::uint64_t seed = 0;
	Family family = Family::v4;
	bool passive = false;		/**< the peer connects */
	Handshake handshake{};
	std::int64_t length = 0;	/**< payload of the peer's whole stream */
	bool urgent = false;		/**< a segment has an urgent pointer */
	bool oob_inline = false;	/**< SO_OOBINLINE */
	int small_buffer = 0;		/**< SO_RCVBUF; 0 leaves it */
	Purge purge = Purge::off;	/**< when the connection is made */
	/**
	 * Not racing: steps in this order, one after the other. Racing: the
	 * three of them at the same time, each in a thread of its own.
	 */
	bool racing = false;
	std::vector<Step> steps{};
	std::vector<Step> readers{};
	std::vector<Step> others{};
};

/** The script of @seed. */
Script script_of(std::uint64_t seed);

/** One line: "P: payload at 20, 100 bytes, FIN". */
std::string to_string(const Step &step);

/** One line on the connection. */
std::string headline(const Script &script);

} // namespace storm
