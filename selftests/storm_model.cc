// SPDX-License-Identifier: GPL-2.0
#include "storm_model.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "lib/ktap.h"
#include "lib/outcome.h"

namespace storm {

Model::Model(const Script &script)
	: length_(script.length),
	  here_(static_cast<std::size_t>(script.length) + 1)
{
}

void Model::arrived(std::int64_t at, std::size_t size, bool fin)
{
	const std::int64_t last = at + static_cast<std::int64_t>(size) + fin;

	if (end_ != End::none)
		return;
	for (std::int64_t i = at; i < last; i++)
		here_[static_cast<std::size_t>(i)] = true;
	highest_ = std::max(highest_, last);
	while (awaited_ <= length_ && here_[static_cast<std::size_t>(awaited_)])
		awaited_++;
	/* tcp_fin() */
	done_ = this->fin();
}

void Model::cut(std::int64_t awaited)
{
	awaited_ = awaited;
	done_ = fin();
}

bool Model::out_of_order() const
{
	return highest_ > awaited_;
}

void Model::ended(End end, bool purged, std::int64_t unread)
{
	end_ = end;
	purged_ = purged;
	switch (end) {
	case End::none:
	case End::orderly:
		return;
	case End::reset:
		error_ = ECONNRESET;
		return;
	case End::beyond:
		error_ = EPIPE;
		return;
	case End::close_wait:
		error_ = purged && unread > 0 ? ECONNRESET : EPIPE;
		done_ = error_ == EPIPE;
		return;
	}
}

void Model::shut(int how)
{
	(how == SHUT_WR ? shut_write_ : shut_read_) = true;
}

int Model::take_error()
{
	return std::exchange(error_, 0);
}

/* The order of tcp_recvmsg_locked() and tcp_splice_read(). */
std::string Model::nothing_to_read()
{
	if (done_)
		return "0";
	if (error_)
		return errno_name(take_error());
	if (shut_read_ || end_ != End::none)
		return "0";
	return "EAGAIN";
}

/* sk_stream_error(): EPIPE and its signal, unless there is another error. */
std::string Model::refused_to_send(bool signal)
{
	if (!shut_write_ && end_ == End::none)
		return "";

	const int error = take_error();

	if (error && error != EPIPE)
		return errno_name(error);
	return signal ? "EPIPE+SIGPIPE" : "EPIPE";
}

/* Where the stream goes on after @bytes; -1 if they are not in it there. */
std::int64_t Model::follow(std::int64_t from, const std::string &bytes) const
{
	const std::string whole = pattern(from, bytes.size());

	if (bytes == whole)
		return from + static_cast<std::int64_t>(bytes.size());
	for (const char byte : bytes) {
		while (byte != pattern(from, 1)[0] && urgent_.contains(from))
			from++;
		if (byte != pattern(from, 1)[0])
			return -1;
		from++;
	}
	return from;
}

void Model::read(const std::string &bytes)
{
	const std::int64_t next = follow(copied_, bytes);

	expect(next >= 0, "the bytes read are not those at " +
				  std::to_string(copied_));
	expect(next <= std::min(awaited_, length_),
	       "bytes were read that were not there");
	expect(!purged_ || bytes.empty(),
	       "bytes were read from a queue that was freed");
	copied_ = next;
}

void Model::skipped(std::int64_t count)
{
	expect(urgent_.empty() ? count <= available() : true,
	       "more bytes were skipped than there were");
	copied_ += count;
}

void Model::peeked(const std::string &bytes, std::int64_t offset) const
{
	const std::int64_t from = copied_ + offset;
	bool found = false;

	expect(!purged_ || bytes.empty(),
	       "bytes were seen in a queue that was freed");
	/* Urgent bytes before the offset may count or not. */
	for (std::size_t holes = 0; holes <= urgent_.size(); holes++)
		found = found || follow(from + static_cast<std::int64_t>(holes),
					bytes) >= 0;
	expect(found, "the bytes seen are not those at " + std::to_string(from));
}

bool Model::only_urgent_left() const
{
	for (std::int64_t at = copied_; at < copied_ + available(); at++)
		if (!urgent_.contains(at))
			return false;
	return true;
}

} // namespace storm
