// SPDX-License-Identifier: GPL-2.0
#include "peer.h"

#include <algorithm>

namespace selftest {

namespace {

using std::chrono::steady_clock;

/* Distance on the circle of sequence numbers, RFC 9293 section 3.4. */
std::int64_t distance(std::uint32_t from, std::uint32_t to)
{
	return static_cast<std::int32_t>(to - from);
}

/* The number at @position, where 0 follows the SYN. */
std::uint32_t number_at(std::uint32_t isn, std::int64_t position)
{
	return isn + 1 + static_cast<std::uint32_t>(position);
}

std::string numbers(std::string_view name, std::int64_t value)
{
	return "  " + std::string(name) + ' ' + std::to_string(value);
}

} // namespace

Peer::Peer(Wire &wire, const Path &path, const Handshake &handshake)
	: wire_(wire), path_(path), handshake_(handshake), next_(handshake.isn)
{
}

Segment Peer::resolve(const Draft &draft) const
{
	Segment segment;

	segment.flags = draft.flags;
	segment.urgent = draft.urgent_pointer;
	segment.window = draft.win.value_or(handshake_.window);
	segment.seq = draft.seq.value_or(
		draft.seq_position
			? number_at(handshake_.isn, *draft.seq_position)
			: next_ + static_cast<std::uint32_t>(draft.seq_offset));
	if (segment.has(ACK))
		segment.ack = draft.ack.value_or(
			draft.ack_position
				? number_at(kernel_isn_, *draft.ack_position)
				: awaited_);
	segment.payload = draft.bytes.value_or(
		pattern(distance(handshake_.isn + 1, segment.seq), draft.length));

	if (draft.options) {
		segment.options = *draft.options;
		return segment;
	}
	if (segment.has(SYN)) {
		segment.options.mss = handshake_.mss;
		segment.options.wscale = handshake_.wscale;
		segment.options.sack_permitted = handshake_.sack;
	}
	if (handshake_.timestamps)
		segment.options.timestamps = {clock_, echo_};
	return segment;
}

void Peer::send(const Draft &draft)
{
	wire_.pump();

	const Segment segment = resolve(draft);

	if (draft.in_sequence())
		next_ = segment.seq + segment.length();
	clock_++;
	log_.push_back({true, segment});
	wire_.transmit(path_, segment);
}

void Peer::arrived(Segment segment)
{
	const std::uint32_t end = segment.seq + segment.length();

	if (segment.has(SYN) && has_syn_ && segment.seq != kernel_isn_) {
		/* A listener's answer to a SYN that came after the end of this
		 * connection. Our next ACK must not make it a second one. */
		log_.push_back({false, std::move(segment)});
		return;
	}
	if (segment.has(SYN)) {
		has_syn_ = true;
		kernel_isn_ = segment.seq;
		awaited_ = end;
	} else if (!segment.has(RST) && distance(awaited_, end) > 0) {
		awaited_ = end;
	}
	if (segment.has(SYN) && handshake_.wscale)
		kernel_shift_ = segment.options.wscale.value_or(0);
	if (segment.has(ACK) && !segment.has(RST)) {
		window_ = std::uint32_t{segment.window}
			  << (segment.has(SYN) ? 0 : kernel_shift_);
		window_end_ = segment.ack + window_;
	}
	if (segment.options.timestamps)
		echo_ = segment.options.timestamps->first;
	log_.push_back({false, std::move(segment)});
}

std::size_t Peer::usable_window()
{
	wire_.pump();
	return static_cast<std::size_t>(
		std::max<std::int64_t>(0, distance(next_, window_end_)));
}

const Segment *Peer::next_match(const Match &match)
{
	for (std::size_t i = seen_; i < log_.size(); i++) {
		if (log_[i].from_peer || !match(log_[i].segment))
			continue;
		seen_ = i + 1;
		return &log_[i].segment;
	}
	return nullptr;
}

Segment Peer::expect(std::string_view what, const Match &match,
		     milliseconds timeout)
{
	const auto deadline = steady_clock::now() + timeout;

	wire_.pump();
	for (;;) {
		if (const Segment *found = next_match(match))
			return *found;

		const auto left = std::chrono::ceil<milliseconds>(
			deadline - steady_clock::now());

		if (left.count() <= 0)
			throw Unexpected("expected from the kernel: " +
					 std::string(what) +
					 "; came: " + pending_text());
		wire_.pump(left);
	}
}

Segment Peer::expect(std::uint16_t flags, milliseconds timeout)
{
	return expect(
		flags_text(flags),
		[flags](const Segment &segment) {
			return (segment.flags & ~PSH) == (flags & ~PSH);
		},
		timeout);
}

void Peer::expect_silence(milliseconds duration)
{
	const auto deadline = steady_clock::now() + duration;

	for (;;) {
		if (has_arrivals())
			throw Unexpected("expected silence from the kernel; "
					 "came: " + pending_text());

		const auto left = std::chrono::ceil<milliseconds>(
			deadline - steady_clock::now());

		if (left.count() <= 0)
			return;
		wire_.pump(left);
	}
}

bool Peer::has_arrivals()
{
	wire_.pump();
	for (std::size_t i = seen_; i < log_.size(); i++)
		if (!log_[i].from_peer)
			return true;
	return false;
}

void Peer::drain()
{
	wire_.pump();
	seen_ = log_.size();
}

const std::vector<Logged> &Peer::log()
{
	wire_.pump();
	return log_;
}

void Peer::forget()
{
	drain();
	log_ = {};
	seen_ = 0;
}

std::string Peer::pending_text() const
{
	std::string text;

	for (std::size_t i = seen_; i < log_.size(); i++)
		if (!log_[i].from_peer)
			text += (text.empty() ? "" : "; ") + line(log_[i]);
	return text.empty() ? "nothing" : text;
}

std::int64_t Peer::seq_position(const Logged &logged) const
{
	return distance((logged.from_peer ? handshake_.isn : kernel_isn_) + 1,
			logged.segment.seq);
}

std::int64_t Peer::ack_position(const Logged &logged) const
{
	return distance((logged.from_peer ? kernel_isn_ : handshake_.isn) + 1,
			logged.segment.ack);
}

std::string Peer::line(const Logged &logged) const
{
	constexpr std::size_t flags_column = 11;
	const Segment &segment = logged.segment;
	std::string flags = flags_text(segment.flags);
	std::string text = logged.from_peer ? "P > C  " : "C > P  ";

	if (flags.size() < flags_column)
		flags.resize(flags_column, ' ');
	text += flags;
	/* A SYN has no position in the stream: it stands before it. */
	if (!segment.has(SYN))
		text += numbers("seq", seq_position(logged));
	if (segment.has(ACK))
		text += numbers("ack", ack_position(logged));
	text += numbers("len", static_cast<std::int64_t>(
				       segment.payload.size()));
	text += numbers("win", segment.window);
	if (segment.has(URG))
		text += numbers("urg", segment.urgent);
	return text;
}

} // namespace selftest
