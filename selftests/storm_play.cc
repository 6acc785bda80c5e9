// SPDX-License-Identifier: GPL-2.0
#include "storm_play.h"

#include <poll.h>

#include "lib/counters.h"
#include "lib/ktap.h"
#include "storm_calls.h"
#include "storm_race.h"

namespace storm {

namespace {

/** Plays the steps of one script in their order. */
class Player {
public:
	Player(Bench &bench, const Script &script)
		: bench_(bench), script_(script), line_(bench, script),
		  model_(line_.model())
	{
	}

	void step(const Step &step);
	/** Reads what is left, and finds the socket empty and without error. */
	void finish();
	Line &line() { return line_; }

private:
	void call(const Step &step);
	void check_read(const Step &step, const Seen &seen);
	void check_exact(const Step &step, const Seen &seen);
	void check_loose(const Step &step, const Seen &seen);
	void peek(const Step &step);
	void zerocopy(const Step &step);
	void send(const Step &step);
	void facts();
	void shut(const Step &step);

	Bench &bench_;
	const Script &script_;
	Line line_;
	Model &model_;
};

void Player::step(const Step &step)
{
	switch (step.act) {
	case Act::payload:
	case Act::rst:
	case Act::beyond:
	case Act::syn:
	case Act::bare_ack:
		line_.send(step);
		return;
	case Act::accept:
		if (!line_.open())
			line_.accept();
		return;
	case Act::sysctl:
		bench_.set(static_cast<Purge>(step.at));
		return;
	default:
		if (line_.open())
			call(step);
	}
}

void Player::call(const Step &step)
{
	switch (step.act) {
	case Act::recv:
		if (step.flags & MSG_PEEK)
			peek(step);
		else
			check_read(step, make_call(line_.app(), step, MSG_DONTWAIT));
		return;
	case Act::splice:
		check_read(step, make_call(line_.app(), step, MSG_DONTWAIT));
		return;
	case Act::zerocopy:
		zerocopy(step);
		return;
	case Act::send:
		send(step);
		return;
	case Act::so_error:
		expect_eq(errno_name(make_call(line_.app(), step, 0).value_error),
			  errno_name(model_.take_error()), "SO_ERROR");
		return;
	case Act::facts:
		facts();
		return;
	case Act::shut:
		shut(step);
		return;
	case Act::close:
		line_.close();
		return;
	default: /* nothing to see: oob, low_water, peek_offset */
		(void)make_call(line_.app(), step, MSG_DONTWAIT);
	}
}

void Player::check_read(const Step &step, const Seen &seen)
{
	if (script_.urgent)
		check_loose(step, seen);
	else
		check_exact(step, seen);

	if (seen.outcome.value > 0) {
		if (step.flags & MSG_TRUNC)
			model_.skipped(seen.outcome.value);
		else
			model_.read(seen.outcome.data);
	}
	if (seen.outcome.value == 0 && step.size > 0 && step.act == Act::recv &&
	    model_.done())
		expect(model_.only_urgent_left(),
		       "a clean end of file with bytes missing");
}

/* Without urgent data, the model knows each result. */
void Player::check_exact(const Step &step, const Seen &seen)
{
	const auto available = static_cast<std::size_t>(model_.available());
	const std::string result = to_string(seen.outcome);

	if (available == 0) {
		expect_eq(result, model_.nothing_to_read(), "a read of nothing");
		return;
	}

	const std::size_t most = std::min(step.size, available);

	if (step.act == Act::splice)
		/* As much as fits into a pipe's buffers. */
		expect(seen.outcome.value > 0 &&
			       static_cast<std::size_t>(seen.outcome.value) <= most,
		       "splice brings some of " + std::to_string(most) +
			       " bytes, not " + result);
	else
		expect_eq(result, std::to_string(most), "a read");
}

/*
 * A read stops at the urgent mark, and may find only the urgent byte itself,
 * which is none of the stream's. An error must still be the right one, and a queue
 * that was freed with something unread has nothing to say but the error.
 */
void Player::check_loose(const Step &step, const Seen &seen)
{
	const std::string result = to_string(seen.outcome);
	const bool must_fail = model_.purged() && !model_.done() &&
			       model_.error() && step.size > 0;

	if (result == "0")
		expect(!must_fail, "the end of the stream instead of an error");
	if (seen.outcome.value > 0 || result == "0")
		return;
	if (result == "EAGAIN") {
		expect(!model_.done() && model_.end() == End::none,
		       "EAGAIN at the end of the stream");
		return;
	}
	expect(!model_.done(), "an error instead of the end of the stream");
	expect_eq(result, errno_name(model_.take_error()), "the error of a read");
}

void Player::peek(const Step &step)
{
	const std::int64_t offset =
		std::max(0, peek_offset_of(line_.app()));
	const std::int64_t available =
		std::max<std::int64_t>(0, model_.available() - offset);
	const Seen seen = make_call(line_.app(), step, MSG_DONTWAIT);

	model_.peeked(seen.outcome.data, offset);
	if (script_.urgent) {
		if (seen.outcome.value < 0)
			check_loose(step, seen);
		return;
	}
	expect_eq(to_string(seen.outcome),
		  available > 0
			  ? std::to_string(std::min<std::size_t>(
				    step.size,
				    static_cast<std::size_t>(available)))
			  : model_.nothing_to_read(),
		  "a look at what is there");
}

/* tcp_zerocopy_receive(): what fits is copied; else pages, of which we send none. */
void Player::zerocopy(const Step &step)
{
	constexpr std::int64_t page = 4096;
	const std::int64_t unread = line_.app().facts().unread;
	const Seen seen = make_call(line_.app(), step, 0);
	const std::string result = to_string(seen.outcome);

	if (result == "EIO") {
		/* It says so for the end of the stream. */
		expect(model_.done() && (unread == 0 || unread >= page),
		       "EIO with bytes to read");
		return;
	}
	expect(seen.outcome.error == 0, "TCP_ZEROCOPY_RECEIVE: " + result);
	if (!script_.urgent) {
		expect_eq(unread, model_.available(), "FIONREAD");
		if (unread <= static_cast<std::int64_t>(step.size))
			expect_eq(result, std::to_string(unread),
				  "TCP_ZEROCOPY_RECEIVE");
	}
	model_.read(seen.outcome.data);
	expect_eq(errno_name(seen.value_error), errno_name(model_.take_error()),
		  "the error of TCP_ZEROCOPY_RECEIVE");
}

void Player::send(const Step &step)
{
	const bool signal = !(step.flags & MSG_NOSIGNAL);
	const std::string result =
		to_string(make_call(line_.app(), step, 0).outcome);
	const std::string refused = model_.refused_to_send(signal);

	if (!refused.empty())
		expect_eq(result, refused, "send()");
	else
		expect(result == "EAGAIN" || std::stoul(result) > 0,
		       "send() succeeds");
}

void Player::facts()
{
	const Facts facts = line_.app().facts();

	if (!script_.urgent) {
		expect_eq(facts.unread, model_.available(), "FIONREAD");
		expect(facts.rmem > 0 || facts.unread == 0,
		       "what is unread takes memory");
	}
	if (model_.end() == End::close_wait || model_.end() == End::reset)
		expect_eq((facts.poll & POLLERR) != 0, model_.error() != 0,
			  "whether poll() reports an error");
}

void Player::shut(const Step &step)
{
	const Outcome outcome = line_.app().shutdown(step.flags);

	expect_eq(to_string(outcome),
		  model_.end() == End::none ? "0" : "ENOTCONN", "shutdown()");
	model_.shut(step.flags);
}

void Player::finish()
{
	const Step all{Act::recv, 0, 65536, 0};
	const Step nothing{Act::recv, 0, 0, 0};

	if (line_.closed()) {
		/* An orphan would keep the namespace alive. */
		line_.peer().drain();
		line_.peer().send(rst().at(model_.awaited()));
		return;
	}
	if (!line_.open())
		line_.accept();
	while (line_.app().facts().unread > 0)
		call(all);
	call(all);
	call(nothing);
	call({Act::so_error, 0, 0, 0});
	call(all);
	expect_eq(line_.app().take_so_error(), 0, "a second SO_ERROR");
	if (model_.fin() && model_.only_urgent_left())
		expect_eq(line_.app().facts().rmem, 0U,
			  "memory held when all has been read");
}

} // namespace

Tally &Tally::operator+=(const Tally &other)
{
	sequences += other.sequences;
	racing += other.racing;
	resets += other.resets;
	purged += other.purged;
	unread += other.unread;
	kept += other.kept;
	accept_queue += other.accept_queue;
	return *this;
}

static Tally play_in_order(Bench &bench, const Script &script)
{
	Player player(bench, script);
	Line &line = player.line();
	Tally tally;
	std::size_t done = 0;

	try {
		for (const Step &step : script.steps) {
			const bool before = line.found().has_value();

			done++;
			player.step(step);
			if (before || !line.found())
				continue;
			tally.purged = line.frees(*line.found());
			tally.unread = tally.purged && line.found()->unread > 0;
			tally.kept = line.found()->queue && !tally.purged;
			tally.accept_queue =
				tally.purged && !line.open() && !line.closed();
		}
		done++;
		player.finish();
	} catch (const std::exception &error) {
		throw Unmet("step " + std::to_string(done) + ": " + error.what());
	}
	tally.resets = line.model().end() == End::reset ||
		       line.model().end() == End::close_wait;
	return tally;
}

/* A kernel without the counter counts nothing. */
static std::int64_t growth(const Counters &before, const Counters &after,
			   const std::string &name)
{
	return after.has(name) ? after.since(before, name) : 0;
}

Tally play(Bench &bench, const Script &script)
{
	const Counters before = Counters::read();
	Tally tally = script.racing ? race(bench, script)
				    : play_in_order(bench, script);
	const Counters after = Counters::read();
	const auto purged = growth(before, after, "TcpExtTCPRcvQPurged");
	const auto unread = growth(before, after, "TcpExtTCPRcvQPurgedUnread");

	/* While they race, only the kernel knows who came first. */
	if (script.racing)
		tally.purged = tally.unread || (tally.may_purge && purged == 1);
	expect_eq(purged, static_cast<std::int64_t>(tally.purged),
		  "TCPRcvQPurged");
	expect_eq(unread, static_cast<std::int64_t>(tally.unread),
		  "TCPRcvQPurgedUnread");
	tally.sequences = 1;
	tally.racing = script.racing;
	return tally;
}

std::vector<std::string> describe(const Script &script)
{
	std::vector<std::string> lines;
	std::size_t number = 0;

	lines.push_back(headline(script));
	for (const Step &step : script.steps)
		lines.push_back(std::to_string(++number) + ". " + to_string(step));
	for (const Step &step : script.readers)
		lines.push_back("reader: " + to_string(step));
	for (const Step &step : script.others)
		lines.push_back("other: " + to_string(step));
	return lines;
}

} // namespace storm
