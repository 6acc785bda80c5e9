// SPDX-License-Identifier: GPL-2.0
#include "storm_race.h"

#include <fcntl.h>
#include <sys/time.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "lib/checked.h"
#include "lib/ktap.h"
#include "lib/outcome.h"
#include "storm_calls.h"

namespace storm {

namespace {

/* How long a reader waits for more, at most. */
constexpr timeval patience{0, 3000};

struct Call {
	Step step;
	Seen seen;
};

/** Runs steps in a thread of its own and keeps what came of them. */
class Caller {
public:
	Caller(TcpSocket &app, const std::vector<Step> &steps, int wait)
		: thread_([this, &app, &steps, wait] { run(app, steps, wait); })
	{
	}

	/** The calls, once all are done; throws what ended them early. */
	const std::vector<Call> &calls()
	{
		thread_.join();
		if (problem_)
			std::rethrow_exception(problem_);
		return calls_;
	}

private:
	void run(TcpSocket &app, const std::vector<Step> &steps, int wait)
	try {
		for (const Step &step : steps)
			if (step.act == Act::sysctl)
				set_purge(static_cast<Purge>(step.at));
			else
				calls_.push_back({step, make_call(app, step, wait)});
	} catch (...) {
		problem_ = std::current_exception();
	}

	std::vector<Call> calls_;
	std::exception_ptr problem_;
	std::jthread thread_; /* last: it uses the others */
};

/** What all calls on one connection have seen. */
class Witness {
public:
	explicit Witness(Model &model) : model_(model) {}

	/** In the order in which one thread made them. */
	void reader(const Call &call);
	void other(const Call &call);

	/** Reports of ECONNRESET, from whatever call. */
	[[nodiscard]] int resets() const { return resets_; }
	/** Reports of EPIPE that took it away for certain. */
	[[nodiscard]] int pipes() const { return pipes_; }
	/** A clean end of file with bytes of the stream missing. */
	[[nodiscard]] bool early_end() const
	{
		return end_at_ >= 0 && end_at_ < model_.length();
	}

private:
	void error(int number)
	{
		resets_ += number == ECONNRESET;
		pipes_ += number == EPIPE;
	}

	Model &model_;
	int resets_ = 0;
	int pipes_ = 0;
	std::int64_t end_at_ = -1;	/* where the first end of file was */
};

void Witness::reader(const Call &call)
{
	const Outcome &outcome = call.seen.outcome;
	const bool file_end = outcome.value == 0 && call.step.size > 0 &&
			      call.step.act != Act::zerocopy;

	error(call.seen.value_error);
	if (outcome.value < 0) {
		expect(outcome.error == EAGAIN || outcome.error == ECONNRESET ||
			       (call.step.act == Act::zerocopy &&
				outcome.error == EIO),
		       "a reader got " + to_string(outcome));
		error(outcome.error);
	} else if (call.step.flags & MSG_PEEK) {
		model_.peeked(outcome.data, 0);
	} else if (call.step.flags & MSG_TRUNC) {
		model_.skipped(outcome.value);
	} else {
		model_.read(outcome.data);
	}
	if (file_end && end_at_ < 0)
		end_at_ = model_.copied();
	/* Nothing comes after the end. */
	if (outcome.value > 0)
		expect(end_at_ < 0, "bytes after the end of file");
}

void Witness::other(const Call &call)
{
	error(call.seen.value_error);
	/* A send that says EPIPE may have taken an error away, or none. */
	if (call.step.act == Act::send && call.seen.outcome.error == ECONNRESET)
		error(ECONNRESET);
}

/* The socket waits in calls, but not for ever. */
void let_it_block(const TcpSocket &app)
{
	check(::setsockopt(app.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience,
			   sizeof(patience)),
	      "SO_RCVTIMEO");
	check(::fcntl(app.fd(), F_SETFL, 0), "fcntl");
}

void read_the_rest(TcpSocket &app, Witness &witness)
{
	const Step all{Act::recv, 0, 65536, 0};
	const Step error{Act::so_error, 0, 0, 0};

	for (;;) {
		const Call call{all, make_call(app, all, MSG_DONTWAIT)};

		witness.reader(call);
		if (call.seen.outcome.value <= 0 &&
		    call.seen.outcome.error != ECONNRESET)
			break;
	}
	witness.other({error, make_call(app, error, MSG_DONTWAIT)});
}

/* Whether the payload went unread; throws unless some order explains it all. */
bool judge(const Model &model, const Witness &witness)
{
	const bool all_read = model.available() == 0;

	switch (model.end()) {
	case End::none:
		expect_eq(witness.resets() + witness.pipes(), 0,
			  "errors on a live connection");
		break;
	case End::reset:
		expect_eq(witness.resets(), 1, "reports of ECONNRESET");
		break;
	case End::close_wait:
		expect_eq(witness.resets(), all_read ? 0 : 1,
			  "reports of ECONNRESET");
		expect(witness.resets() + witness.pipes() <= 1,
		       "the error was reported twice");
		return !all_read;
	default:
		expect(witness.resets() == 0 && witness.pipes() <= 1,
		       "errors after payload beyond the FIN");
	}
	expect(all_read, "bytes are missing that no reset may take");
	expect(model.fin() ? !witness.early_end() : true,
	       "a clean end of file with bytes missing");
	return false;
}

/* Whether the sysctl had just one value all the time. */
bool steady(const Script &script)
{
	return std::none_of(script.others.begin(), script.others.end(),
			    [](const Step &step) {
				    return step.act == Act::sysctl;
			    });
}

} // namespace

Tally race(Bench &bench, const Script &script)
{
	Line line(bench, script);
	Model &model = line.model();
	Tally tally;

	if (!line.open())
		line.accept();
	let_it_block(line.app());
	{
		Caller readers(line.app(), script.readers, 0);
		Caller others(line.app(), script.others, 0);
		Witness witness(model);

		for (const Step &step : script.steps)
			line.send_blindly(step);

		const auto &read = readers.calls();
		const auto &other = others.calls();

		for (const Step &step : script.others)
			if (step.act == Act::sysctl)
				bench.purge = static_cast<Purge>(step.at);
		line.settle();

		const Facts facts = line.app().facts();

		for (const Call &call : read)
			witness.reader(call);
		for (const Call &call : other)
			witness.other(call);
		read_the_rest(line.app(), witness);
		tally.unread = judge(model, witness);
		tally.resets = model.end() == End::reset ||
			       model.end() == End::close_wait;
		tally.may_purge = model.end() == End::close_wait &&
				  !facts.rmem &&
				  (!steady(script) || script.purge != Purge::off);
		if (tally.unread)
			expect(!steady(script) || script.purge == Purge::flush,
			       "payload was discarded with the sysctl at " +
				       std::string(to_string(script.purge)));
		if (tally.unread || (steady(script) && script.purge == Purge::flush &&
				     model.end() == End::close_wait))
			expect(!facts.rmem && !facts.unread,
			       "memory held after the purge");
	}
	return tally;
}

} // namespace storm
