// SPDX-License-Identifier: GPL-2.0
#include "storm_script.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace storm {

namespace {

constexpr std::int64_t segment_most = 1000;
/* Within the window that a new connection offers. */
constexpr std::int64_t stream_most = 12000;
constexpr std::int64_t out_of_window = 1 << 24;

/** Makes the parts of a script out of random numbers. */
class Maker {
public:
	explicit Maker(std::uint64_t seed) : random_(seed) { script_.seed = seed; }

	Script make()
	{
		connection();
		if (script_.racing)
			race();
		else
			interleave();
		return std::move(script_);
	}

private:
	void connection();
	std::int64_t stream_length();
	std::vector<Step> stream();
	void disorder(std::vector<Step> &segments);
	Step noise();
	Step reset();
	void ending(std::vector<Step> &segments);
	Step reading();
	Step call();
	Step other_call();
	void interleave();
	void race();

	std::size_t size()
	{
		/* Often small, often everything, now and then none. */
		switch (random_.below(8)) {
		case 0:
			return 0;
		case 1:
			return 1;
		case 2:
		case 3:
			return random_.below(64) + 1;
		case 4:
		case 5:
			return random_.below(2000) + 1;
		default:
			return stream_most;
		}
	}

	Random random_;
	Script script_;
};

std::int64_t Maker::stream_length()
{
	switch (random_.below(6)) {
	case 0:
		return 0;
	case 1:
		return random_.between(1, 3);
	case 2:
		return random_.between(4000, stream_most);
	default:
		return random_.between(1, 3000);
	}
}

void Maker::connection()
{
	script_.family = random_.pick(
		std::array{Family::v4, Family::v6, Family::mapped});
	script_.racing = random_.chance(25);
	script_.passive = random_.chance(40);
	script_.handshake.sack = random_.chance(60);
	script_.handshake.timestamps = random_.chance(50);
	if (random_.chance(60))
		script_.handshake.wscale =
			static_cast<std::uint8_t>(random_.below(15));
	/* Near the wrap of the sequence numbers, now and then. */
	if (random_.chance(20))
		script_.handshake.isn =
			static_cast<std::uint32_t>(-random_.between(1, 3000));
	script_.length = stream_length();
	script_.urgent = !script_.racing && random_.chance(15);
	script_.oob_inline = random_.chance(30);
	if (!script_.racing && random_.chance(10))
		script_.small_buffer = static_cast<int>(random_.between(1, 6000));
	script_.purge = static_cast<Purge>(random_.below(3));
}

/* The whole stream in order, cut anywhere. The FIN rides on the last segment. */
std::vector<Step> Maker::stream()
{
	std::vector<Step> segments;
	const bool fin = random_.chance(85);
	const bool small = random_.chance(30);
	std::int64_t at = 0;

	while (at < script_.length) {
		/* A dozen segments or two, not hundreds. */
		const std::int64_t floor =
			small && script_.length < 300 ? 1 : segment_most / 4;
		const std::int64_t part =
			std::min(script_.length - at,
				 random_.between(floor, small ? 2 * floor
							      : segment_most));

		segments.push_back({Act::payload, at,
				    static_cast<std::size_t>(part), 0});
		at += part;
	}
	if (!fin)
		return segments;
	if (segments.empty() || random_.chance(50))
		segments.push_back({Act::payload, at, 0, FIN});
	else
		segments.back().flags = FIN;
	return segments;
}

/* Retransmissions, overlaps, gaps that are filled late or never. */
void Maker::disorder(std::vector<Step> &segments)
{
	std::vector<Step> result;

	for (const Step &segment : segments) {
		Step one = segment;

		if (random_.chance(10) && one.at > 0) {
			/* Begins in what was sent before. */
			const auto back = random_.between(
				1, std::min<std::int64_t>(one.at, 400));

			one.at -= back;
			one.size += static_cast<std::size_t>(back);
		}
		if (random_.chance(script_.urgent ? 40 : 0))
			one.flags |= URG;
		if (random_.chance(3))
			continue; /* lost */
		result.push_back(one);
		if (random_.chance(10))
			result.push_back(segment);
	}
	for (std::size_t i = 1; i < result.size(); i++)
		if (random_.chance(15))
			std::swap(result[i], result[random_.below(i)]);
	segments = std::move(result);
}

Step Maker::noise()
{
	if (random_.chance(40))
		return {Act::syn, random_.between(0, 3), 0, 0};
	return {Act::bare_ack, random_.between(0, 1) * random_.between(0, 65535),
		0, 0};
}

/* Most are accepted, the others nearly so. */
Step Maker::reset()
{
	Step step{Act::rst, 0, 0, 0};

	switch (random_.below(8)) {
	case 0:
		step.at = random_.between(1, 3);
		break;
	case 1:
		step.at = random_.between(-3, -1);
		break;
	case 2:
		step.at = random_.pick(std::array<std::int64_t, 4>{
			5000, -5000, out_of_window, -out_of_window});
		break;
	case 3:
		step.at = -1;
		break;
	default:
		break;
	}
	if (random_.chance(40))
		step.flags |= ACK;
	if (random_.chance(10))
		step.flags |= FIN;
	if (random_.chance(10))
		step.size = random_.below(100);
	if (random_.chance(10))
		step.flags |= stale_stamp;
	else if (random_.chance(10))
		step.flags |= no_options;
	return step;
}

void Maker::ending(std::vector<Step> &segments)
{
	if (random_.chance(15))
		segments.push_back({Act::beyond, random_.between(0, 20),
				    random_.below(100), 0});
	for (std::size_t i = 0; i < 4 && random_.chance(80); i++)
		segments.push_back(reset());
}

Step Maker::reading()
{
	Step step{Act::recv, 0, size(), 0};

	switch (random_.below(8)) {
	case 0:
		step.flags = MSG_PEEK;
		break;
	case 1:
		step.flags = MSG_WAITALL;
		break;
	case 2:
		/* Without the bytes, nobody knows of a hole in them. */
		step.flags = script_.urgent ? 0 : MSG_TRUNC;
		break;
	case 3:
		step.act = Act::splice;
		step.size = std::max<std::size_t>(step.size, 1);
		break;
	case 4:
		step.act = Act::zerocopy;
		break;
	default:
		break;
	}
	return step;
}

Step Maker::other_call()
{
	switch (random_.below(5)) {
	case 0:
		return {Act::so_error, 0, 0, 0};
	case 1:
		return {Act::send, 0, random_.below(3000) + 1,
			random_.chance(50) ? MSG_NOSIGNAL : 0};
	case 2:
		return {Act::low_water, 0, random_.below(2000) + 1, 0};
	default:
		return {Act::facts, 0, 0, 0};
	}
}

Step Maker::call()
{
	const std::size_t kind = random_.below(100);

	if (kind < 60)
		return reading();
	if (kind < 85)
		return other_call();
	if (kind < 91)
		return {Act::peek_offset, random_.between(-1, 200), 0, 0};
	if (kind < 94)
		return {Act::oob, 0, 1, random_.chance(50) ? MSG_PEEK : 0};
	if (kind < 97)
		return {Act::sysctl, random_.between(0, 2), 0, 0};
	/* Only one of the two: a socket shut down in both directions answers
	 * new payload with a reset of its own.
	 */
	if (kind < 99)
		return {Act::shut, 0, 0,
			script_.seed % 4 != 0 ? SHUT_WR : SHUT_RD};
	return {Act::close, 0, 0, 0};
}

/* Segments and calls in one row. Calls begin once the socket is accepted. */
void Maker::interleave()
{
	std::vector<Step> segments = stream();

	if (random_.chance(60))
		disorder(segments);
	if (random_.chance(10))
		segments.insert(segments.begin() +
					static_cast<std::ptrdiff_t>(random_.below(
						segments.size() + 1)),
				random_.chance(50) ? noise() : reset());
	ending(segments);

	const std::size_t accepted =
		script_.passive && random_.chance(50)
			? random_.below(segments.size() + 1)
			: 0;
	/* The idle connection that nobody looks at is the case that matters. */
	const std::size_t eager = random_.chance(40) ? 0 : random_.below(60);

	for (std::size_t i = 0; i < segments.size(); i++) {
		if (i == accepted)
			script_.steps.push_back({Act::accept, 0, 0, 0});
		while (i >= accepted && random_.chance(eager))
			script_.steps.push_back(call());
		script_.steps.push_back(segments[i]);
	}
	if (accepted == segments.size())
		script_.steps.push_back({Act::accept, 0, 0, 0});
	for (std::size_t n = random_.below(8); n > 0; n--)
		script_.steps.push_back(call());
}

void Maker::race()
{
	script_.steps = stream();
	if (random_.chance(40))
		disorder(script_.steps);
	ending(script_.steps);
	for (std::size_t n = random_.below(14); n > 0; n--) {
		Step step = reading();

		if (random_.chance(30))
			step.flags |= MSG_DONTWAIT;
		script_.readers.push_back(step);
	}
	for (std::size_t n = random_.below(14); n > 0; n--)
		script_.others.push_back(
			random_.chance(50)
				? Step{Act::sysctl, random_.between(0, 2), 0, 0}
				: other_call());
}

} // namespace

Script script_of(std::uint64_t seed)
{
	return Maker(seed).make();
}

} // namespace storm
