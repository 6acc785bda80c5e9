// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection of the storm must look like: a receiver in as few rules as
 * will do. It knows which bytes of the peer's stream have come, what the
 * application has read of them, and what a reset left behind. It does not know
 * segments in memory: whether one that holds just a FIN is still queued, the
 * player asks the kernel just before a reset.
 *
 * Positions are those of the peer's stream: 0 is the first byte after the SYN,
 * and the FIN takes up the one after the last byte.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "storm_script.h"

namespace storm {

/** How a connection came to an end. */
enum class End {
	none,		/**< it has not */
	orderly,	/**< both FINs, or TIME_WAIT */
	reset,		/**< RST in any state but CLOSE_WAIT */
	close_wait,	/**< RST in CLOSE_WAIT: the case that the sysctl is for */
	beyond,		/**< payload behind the FIN, no RST */
};

class Model {
public:
	explicit Model(const Script &script);

	/* What the peer does. */

	/** @size bytes from @at, and a FIN behind them. */
	void arrived(std::int64_t at, std::size_t size, bool fin);
	/** The urgent mark may stand at @at. */
	void urgent(std::int64_t at) { urgent_.insert(at); }
	/** The kernel took less of the stream: it has no room for more. */
	void cut(std::int64_t awaited);
	/**
	 * The connection ended. With @unread payload in CLOSE_WAIT, and @purged,
	 * that payload is gone and the application must hear of it.
	 */
	void ended(End end, bool purged, std::int64_t unread);

	/* What is so. */

	/** RCV.NXT. */
	[[nodiscard]] std::int64_t awaited() const { return awaited_; }
	[[nodiscard]] bool fin() const { return awaited_ > length_; }
	/** Bytes of payload in the whole stream. */
	[[nodiscard]] std::int64_t length() const { return length_; }
	/** Whether there is something beyond a gap. */
	[[nodiscard]] bool out_of_order() const;
	/** Bytes that can be read; with urgent data, it may be less. */
	[[nodiscard]] std::int64_t available() const
	{
		return purged_ ? 0 : std::min(awaited_, length_) - copied_;
	}
	[[nodiscard]] std::int64_t copied() const { return copied_; }
	[[nodiscard]] End end() const { return end_; }
	/** The error nobody has taken yet, 0 when there is none. */
	[[nodiscard]] int error() const { return error_; }
	/** Whether the queue was freed with the reset. */
	[[nodiscard]] bool purged() const { return purged_; }
	/** Whether the application has sent its FIN. */
	[[nodiscard]] bool shut_write() const { return shut_write_; }
	/** Whether recv() reports the end of the stream before any error. */
	[[nodiscard]] bool done() const { return done_; }

	/* What the application does. */

	void shut(int how);
	/** Takes the error away: 0 or ECONNRESET or EPIPE. */
	int take_error();
	/** What a read that finds nothing says. It may take the error. */
	std::string nothing_to_read();
	/** What send() says, or "" if it may send. It may take the error. */
	std::string refused_to_send(bool signal);
	/**
	 * @bytes were read. Throws Unmet unless they are those that follow in the
	 * stream; an urgent byte may be missing.
	 */
	void read(const std::string &bytes);
	/** @count bytes were read and are not known. */
	void skipped(std::int64_t count);
	/** Throws Unmet unless @bytes are what stands @offset further on. */
	void peeked(const std::string &bytes, std::int64_t offset) const;
	/** Whether all that is left to read is bytes with an urgent mark. */
	[[nodiscard]] bool only_urgent_left() const;

private:
	[[nodiscard]] std::int64_t follow(std::int64_t from,
					  const std::string &bytes) const;

	std::int64_t length_;
	std::vector<bool> here_;	/* bytes of the stream, and its FIN */
	std::int64_t awaited_ = 0;
	std::int64_t highest_ = 0;	/* end of what has come */
	std::int64_t copied_ = 0;
	std::set<std::int64_t> urgent_;
	End end_ = End::none;
	int error_ = 0;
	bool done_ = false;
	bool purged_ = false;
	bool shut_read_ = false;
	bool shut_write_ = false;
};

} // namespace storm
