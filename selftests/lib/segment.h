// SPDX-License-Identifier: GPL-2.0
/*
 * TCP segments. A Segment is what is on the wire, with absolute numbers. A
 * Draft is what a test writes: whatever it leaves open takes the value a
 * correct peer would send next, which only the peer (peer.h) knows.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "address.h"

namespace selftest {

/** TCP header flags, RFC 9293 section 3.1. */
enum Flag : std::uint16_t {
	FIN = 0x01,
	SYN = 0x02,
	RST = 0x04,
	PSH = 0x08,
	ACK = 0x10,
	URG = 0x20,
	ECE = 0x40,
	CWR = 0x80,
};

/** Option fields; what is not set is not sent. */
struct TcpOptions {
	std::optional<std::uint16_t> mss{};
	std::optional<std::uint8_t> wscale{};
	bool sack_permitted = false;
	/** Left and right edges, absolute. At most 4 blocks, 3 with timestamps. */
	std::vector<std::pair<std::uint32_t, std::uint32_t>> sack{};
	/** TSval and TSecr. */
	std::optional<std::pair<std::uint32_t, std::uint32_t>> timestamps{};
};

/** A segment on the wire. Numbers are absolute and in host byte order. */
struct Segment {
	std::uint16_t flags = 0;
	std::uint32_t seq = 0;
	std::uint32_t ack = 0;
	std::uint16_t window = 0;
	std::uint16_t urgent = 0;
	TcpOptions options;
	std::string payload;

	[[nodiscard]] bool has(std::uint16_t wanted) const
	{
		return (flags & wanted) == wanted;
	}
	/** Sequence numbers it takes up: payload, SYN and FIN (SEG.LEN). */
	[[nodiscard]] std::uint32_t length() const
	{
		return static_cast<std::uint32_t>(payload.size()) +
		       (has(SYN) ? 1 : 0) + (has(FIN) ? 1 : 0);
	}
};

/** "FIN ACK"; "none" when no flag is set. */
std::string flags_text(std::uint16_t flags);

/** One end of a path: which peer host and which ports. */
struct Path {
	bool ipv6 = false;
	std::uint32_t host = 0;		/**< of the peer, see address.h */
	std::uint16_t peer_port = 0;
	std::uint16_t kernel_port = 0;
};

/** The IP packet from the peer to the kernel, checksums filled in. */
std::vector<std::uint8_t> encode(const Path &path, const Segment &segment);

/** A packet the kernel sent to a peer. */
struct Arrival {
	Path path;
	Segment segment;
};

/**
 * Reads an IP packet. Nothing when it is not a complete TCP segment to one of
 * the peer's addresses.
 */
std::optional<Arrival> decode(std::span<const std::uint8_t> packet);

/**
 * @length bytes of the test stream from position @offset on. The value depends on
 * the position (it repeats after 251), so lost or shifted bytes do not compare
 * equal.
 */
std::string pattern(std::int64_t offset, std::size_t length);

/**
 * A segment as a test writes it. Positions are relative to the stream: 0 is the
 * first byte after the SYN.
 */
struct Draft {
	std::uint16_t flags = 0;
	std::size_t length = 0;			/**< payload from pattern() */
	std::optional<std::string> bytes{};	/**< payload given literally */

	std::optional<std::uint32_t> seq{};	/**< absolute */
	std::optional<std::int64_t> seq_position{};
	std::int64_t seq_offset = 0;		/**< added to the default */
	std::optional<std::uint32_t> ack{};	/**< absolute */
	std::optional<std::int64_t> ack_position{};
	std::optional<std::uint16_t> win{};
	std::uint16_t urgent_pointer = 0;
	std::optional<TcpOptions> options{};	/**< instead of the usual ones */

	/** Adds flags. */
	Draft &with(std::uint16_t more) { flags |= more; return *this; }
	/** Takes flags away, for instance the ACK of data(). */
	Draft &without(std::uint16_t less)
	{
		flags &= static_cast<std::uint16_t>(~less);
		return *this;
	}
	/** Starts at @position. The peer's next number stays where it is. */
	Draft &at(std::int64_t position)
	{
		seq_position = position;
		return *this;
	}
	/** Starts @offset beyond the peer's next number, which stays. */
	Draft &plus(std::int64_t offset) { seq_offset = offset; return *this; }
	/** Starts at the absolute number @number; the peer's next one stays. */
	Draft &at_absolute(std::uint32_t number) { seq = number; return *this; }
	/** Acknowledges up to @position of what the kernel sent. */
	Draft &acking(std::int64_t position)
	{
		ack_position = position;
		flags |= ACK;
		return *this;
	}
	Draft &acking_absolute(std::uint32_t number)
	{
		ack = number;
		flags |= ACK;
		return *this;
	}
	/** The window field as sent, before scaling. */
	Draft &window(std::uint16_t value) { win = value; return *this; }
	/** Sets URG and the pointer: offset from SEG.SEQ (RFC 6093). */
	Draft &urgent(std::uint16_t pointer)
	{
		urgent_pointer = pointer;
		flags |= URG;
		return *this;
	}
	/** Options exactly as given, no automatic timestamps. */
	Draft &with_options(TcpOptions exact)
	{
		options = std::move(exact);
		return *this;
	}
	/** Whether its start is left to the peer, whose next number it moves. */
	[[nodiscard]] bool in_sequence() const
	{
		return !seq && !seq_position && seq_offset == 0;
	}
};

/** @length bytes of pattern() with PSH and ACK. */
inline Draft data(std::size_t length)
{
	Draft draft;

	draft.flags = PSH | ACK;
	draft.length = length;
	return draft;
}

/** @bytes with PSH and ACK. */
inline Draft data(std::string bytes)
{
	Draft draft;

	draft.flags = PSH | ACK;
	draft.bytes = std::move(bytes);
	return draft;
}

/** A segment with nothing but @flags. */
inline Draft bare(std::uint16_t flags)
{
	Draft draft;

	draft.flags = flags;
	return draft;
}

inline Draft ack() { return bare(ACK); }
inline Draft fin() { return bare(FIN | ACK); }
inline Draft rst() { return bare(RST); }
inline Draft rst_ack() { return bare(RST | ACK); }

} // namespace selftest
