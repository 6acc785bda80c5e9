// SPDX-License-Identifier: GPL-2.0
/* Scripts in words, for the report of a failure. */
#include <sys/socket.h>

#include <fmt/format.h>

#include "storm_script.h"

namespace storm {

namespace {

std::string recv_flags(int flags)
{
	std::string text;

	if (flags & MSG_PEEK)
		text += " MSG_PEEK";
	if (flags & MSG_WAITALL)
		text += " MSG_WAITALL";
	if (flags & MSG_TRUNC)
		text += " MSG_TRUNC";
	if (flags & MSG_DONTWAIT)
		text += " MSG_DONTWAIT";
	if (flags & MSG_NOSIGNAL)
		text += " MSG_NOSIGNAL";
	return text;
}

std::string segment_flags(const Step &step)
{
	std::string text = " " + flags_text(static_cast<std::uint16_t>(step.flags));

	if (!(step.flags & 0xffff))
		text.clear();
	if (step.flags & stale_stamp)
		text += " stale timestamp";
	if (step.flags & no_options)
		text += " no options";
	return text;
}

} // namespace

std::string to_string(const Step &step)
{
	switch (step.act) {
	case Act::payload:
		return fmt::format("P: {} bytes at {}{}", step.size, step.at,
				   segment_flags(step));
	case Act::rst:
		return fmt::format("P: RST at awaited{:+}, {} bytes{}", step.at,
				   step.size, segment_flags(step));
	case Act::beyond:
		return fmt::format("P: payload from {} before the FIN to {} behind",
				   step.at, step.size + 1);
	case Act::syn:
		return fmt::format("P: SYN at awaited+{}", step.at);
	case Act::bare_ack:
		return fmt::format("P: ACK, window {}", step.at);
	case Act::accept:
		return "C: accept";
	case Act::recv:
		return fmt::format("C: recv {}{}", step.size,
				   recv_flags(step.flags));
	case Act::splice:
		return fmt::format("C: splice {}", step.size);
	case Act::zerocopy:
		return fmt::format("C: TCP_ZEROCOPY_RECEIVE, {} for copies",
				   step.size);
	case Act::oob:
		return "C: recv MSG_OOB" + recv_flags(step.flags);
	case Act::send:
		return fmt::format("C: send {}{}", step.size,
				   recv_flags(step.flags));
	case Act::so_error:
		return "C: SO_ERROR";
	case Act::facts:
		return "C: poll, FIONREAD, SO_MEMINFO";
	case Act::low_water:
		return fmt::format("C: SO_RCVLOWAT {}", step.size);
	case Act::peek_offset:
		return fmt::format("C: SO_PEEK_OFF {}", step.at);
	case Act::shut:
		return step.flags == SHUT_WR ? "C: shutdown SHUT_WR"
					     : "C: shutdown SHUT_RD";
	case Act::close:
		return "C: close";
	case Act::sysctl:
		return fmt::format("sysctl {}", step.at);
	}
	return "?";
}

std::string headline(const Script &script)
{
	const Handshake &with = script.handshake;

	return fmt::format(
		"{} {}{}{}{}{}{}{}, {} bytes in all, sysctl {}{}",
		selftest::to_string(script.family),
		script.passive ? "accepted" : "connected",
		with.sack ? ", SACK" : "", with.timestamps ? ", timestamps" : "",
		with.wscale ? ", window scale" : "",
		script.urgent ? ", urgent data" : "",
		script.oob_inline ? ", SO_OOBINLINE" : "",
		script.small_buffer
			? fmt::format(", SO_RCVBUF {}", script.small_buffer)
			: "",
		script.length, selftest::to_string(script.purge),
		script.racing ? ", racing" : "");
}

} // namespace storm
