// SPDX-License-Identifier: GPL-2.0
#include "storm_line.h"

#include <poll.h>

#include <algorithm>

#include "lib/ktap.h"
#include "storm_calls.h"

namespace storm {

namespace {

/* A timestamp that PAWS takes for an old one (RFC 7323, 5.2). */
constexpr std::uint32_t stale = 0x90000000;

} // namespace

void Bench::set(Purge value)
{
	if (value == purge)
		return;
	set_purge(value);
	purge = value;
}

Line::Line(Bench &bench, const Script &script)
	: bench_(bench), script_(script), model_(script),
	  listener_(bench.listeners[static_cast<std::size_t>(script.family)])
{
	bench.set(script.purge);
	if (script.passive) {
		peer_ = bench.wire.open(listener_, script.handshake);
	} else {
		app_ = TcpSocket::create(script.family);
		peer_ = bench.wire.connect(*app_, script.family,
					   script.handshake);
	}
	const Path &path = peer_->path();

	local_ = kernel_address(script.family, path.kernel_port);
	remote_ = peer_address(script.family, path.host, path.peer_port);
	if (app_)
		accept();
}

void Line::accept()
{
	if (!app_)
		app_ = listener_.accept();
	if (script_.oob_inline)
		app_->set(SOL_SOCKET, SO_OOBINLINE, 1);
	if (script_.small_buffer)
		app_->set(SOL_SOCKET, SO_RCVBUF, script_.small_buffer);
	if (held_when_accepted_)
		expect_eq(app_->facts().rmem > 0, *held_when_accepted_,
			  "whether memory is held when it is accepted");
}

void Line::close()
{
	const bool quiet = model_.end() != End::none;

	peer_->drain();
	(void)app_->close();
	app_.reset();
	was_closed_ = true;
	if (quiet)
		expect(!peer_->has_arrivals(),
		       "close() of a dead connection sends nothing");
}

bool Line::frees(const Purged &queue) const
{
	return queue.queue &&
	       purges(bench_.purge, static_cast<std::size_t>(queue.unread));
}

/* The connection as the kernel has it hashed; nothing when it is CLOSE. */
std::optional<DiagFacts> Line::look() const
{
	return diag_lookup(script_.family, local_, remote_);
}

/* Where the segment of @step begins. */
std::int64_t Line::position_of(const Step &step) const
{
	switch (step.act) {
	case Act::payload:
		return step.at;
	case Act::beyond:
		return std::max<std::int64_t>(0, script_.length - step.at);
	case Act::bare_ack:
		return model_.awaited();
	default:
		return model_.awaited() + step.at;
	}
}

Draft Line::draft_of(const Step &step) const
{
	const auto flags = static_cast<std::uint16_t>(step.flags);
	const std::int64_t from = position_of(step);
	Draft draft;

	switch (step.act) {
	case Act::payload:
		draft = data(step.size).with(flags & FIN);
		if ((flags & URG) && step.size > 0)
			/* Mostly its last byte, sometimes one yet to come. */
			draft.urgent(static_cast<std::uint16_t>(
				step.size + (step.at % 3 ? 0 : 7)));
		break;
	case Act::beyond:
		draft = data(static_cast<std::size_t>(script_.length - from) + 2 +
			     step.size);
		break;
	case Act::syn:
		draft = bare(SYN);
		break;
	case Act::bare_ack:
		draft = ack().window(static_cast<std::uint16_t>(step.at));
		break;
	default:
		draft = rst().with(flags);
		draft.length = step.size;
		if (step.flags & no_options)
			draft.with_options({});
		else if ((step.flags & stale_stamp) && script_.handshake.timestamps)
			draft.with_options({.timestamps = {{stale, 0}}});
		break;
	}
	return draft.at(from);
}

void Line::note_arrival(const Step &step)
{
	if (step.act != Act::payload)
		return;
	if ((step.flags & URG) && step.size > 0)
		model_.urgent(step.at + static_cast<std::int64_t>(step.size) - 1 +
			      (step.at % 3 ? 0 : 7));
	model_.arrived(step.at, step.size, step.flags & FIN);
}

/* The kernel has received as much as the model says. */
void Line::compare_progress()
{
	if (!app_)
		return;

	const std::int64_t received = bytes_received(*app_);

	if (script_.small_buffer && received < model_.awaited())
		model_.cut(received);
	expect_eq(received, model_.awaited(), "bytes received");
	if (model_.end() != End::none ||
	    app_->facts().state != selftest::CLOSE)
		return;
	/* After our own FIN, the peer's ends the connection. */
	expect(model_.shut_write() && model_.fin(),
	       "the connection is in CLOSE, and nothing ended it");
	model_.ended(End::orderly, false, 0);
}

void Line::send(const Step &step)
{
	if (step.act == Act::rst || step.act == Act::beyond) {
		reset(step);
		return;
	}
	peer_->send(draft_of(step));
	note_arrival(step);
	compare_progress();
}

void Line::send_blindly(const Step &step)
{
	const std::int64_t from = position_of(step);

	if (step.act == Act::beyond && !model_.fin())
		return;
	peer_->send(draft_of(step));
	note_arrival(step);
	if (model_.end() != End::none)
		return;
	if (step.act == Act::beyond)
		model_.ended(End::beyond, false, 0);
	else if (step.act == Act::rst &&
		 (from == model_.awaited() ||
		  (model_.fin() && from == model_.awaited() - 1)))
		model_.ended(model_.fin() ? End::close_wait : End::reset, false,
			     0);
}

void Line::settle()
{
	/* A RST at the end of a SACK block may have been accepted. */
	if (model_.end() == End::none && script_.handshake.sack &&
	    !model_.fin() && app_->facts().state == selftest::CLOSE)
		model_.ended(End::reset, false, 0);
	compare_progress();
}

/* RFC 5961, 3.2, and what Linux adds: tcp_validate_incoming(). */
static bool is_accepted(std::int64_t distance, int state)
{
	return distance == 0 ||
	       (distance == -1 && (state == CLOSE_WAIT || state == LAST_ACK ||
				   state == CLOSING));
}

void Line::reset(const Step &step)
{
	const auto before = look();
	/* Once the application has closed it, only the counters tell. */
	const bool alive = before && !was_closed_ &&
			   before->state != TIME_WAIT &&
			   model_.end() == End::none;
	const bool in_close_wait = alive && before->state == selftest::CLOSE_WAIT;

	if (step.act == Act::beyond && !in_close_wait)
		return;

	const int peek_offset = app_ ? peek_offset_of(*app_) : -1;
	const int announced = app_ ? app_->facts().poll & POLLPRI : 0;
	const bool accepted =
		alive && (step.act == Act::beyond ||
			  is_accepted(step.at, before->state));
	/* The end of the right-most SACK block will do, too. */
	const bool maybe = alive && !accepted && script_.handshake.sack &&
			   step.at > 0 && model_.out_of_order();
	Purged queue;

	if (in_close_wait) {
		queue.queue = before->rqueue > 0;
		queue.unread = std::max<std::int64_t>(0, std::int64_t{before->rqueue} - 1);
		expect_eq(before->rmem > 0, queue.queue,
			  "whether memory is held while there is something to read");
		if (!script_.urgent && !was_closed_)
			expect_eq(queue.unread, model_.available(),
				  "unread bytes by sock_diag");
	}
	peer_->send(draft_of(step));
	if (maybe && !look()) {
		model_.ended(End::reset, false, 0);
		return;
	}
	if (!alive)
		return;
	if (!accepted) {
		expect_eq(look().has_value(), before.has_value(),
			  "whether the connection is still there");
		compare_progress();
		return;
	}

	const bool freed = in_close_wait && step.act == Act::rst && frees(queue);

	if (in_close_wait && step.act == Act::rst)
		found_ = queue;
	model_.ended(step.act == Act::beyond ? End::beyond
		     : in_close_wait	     ? End::close_wait
					     : End::reset,
		     freed, queue.unread);
	/* Lost payload takes along what was said of it. */
	const auto lost = static_cast<int>(freed ? queue.unread : 0);

	check_end(before->rmem, freed,
		  peek_offset < 0 ? -1 : std::max(0, peek_offset - lost),
		  lost > 0 ? 0 : announced);
}

void Line::check_end(std::uint32_t rmem, bool freed, int peek_offset,
		     int announced)
{
	expect(!look(), "the connection is no longer hashed after the reset");
	if (!app_) {
		held_when_accepted_ = !freed && rmem > 0;
		return;
	}

	const Facts facts = app_->facts();
	int bits = POLLIN | POLLOUT | POLLHUP | POLLRDHUP | announced;

	if (model_.error())
		bits |= POLLERR;
	expect_eq(state_name(facts.state), "CLOSE", "the state after the reset");
	expect_eq(facts.rmem, freed ? 0 : rmem, "rmem after the reset");
	if (freed)
		expect_eq(facts.unread, 0, "FIONREAD after the purge");
	/* Data beyond the FIN may bring urgent data, and then nothing is freed. */
	if (freed || !script_.urgent)
		expect_eq(poll_text(facts.poll), poll_text(bits),
			  "poll() after the reset");
	expect_eq(peek_offset_of(*app_), peek_offset,
		  "SO_PEEK_OFF after the reset");
	compare_progress();
}

} // namespace storm
