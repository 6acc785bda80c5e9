// SPDX-License-Identifier: GPL-2.0
#include "filter.h"

#include <algorithm>
#include <arpa/inet.h>

#include "text.h"

namespace rxstall {

namespace {

struct Target {
	std::optional<Prefix> prefix;
	std::optional<uint16_t> port;
};

Result<Prefix> parse_prefix(std::string_view word)
{
	std::string_view rest = word;
	const std::string address(next_field(rest, '/'));
	Prefix prefix;

	if (inet_pton(AF_INET, address.c_str(), prefix.bytes.data()) == 1) {
		prefix.family = Family::ipv4;
		prefix.bits = 32;
	} else if (inet_pton(AF_INET6, address.c_str(), prefix.bytes.data()) == 1) {
		prefix.family = Family::ipv6;
		prefix.bits = 128;
	} else {
		return failure("'" + escape(word) + "' is not an address: give it in digits, as "
			       "10.0.0.0/8 or [2001:db8::1]:443");
	}

	if (word.find('/') != std::string_view::npos) {
		auto bits = parse_number<unsigned>(rest);
		if (!bits || *bits > prefix.bits)
			return failure("'" + escape(word) + "' has a prefix length that does not fit");
		prefix.bits = *bits;
	}
	return prefix;
}

Result<uint16_t> parse_port(std::string_view word)
{
	std::string_view digits = word;
	if (digits.starts_with(':'))
		digits.remove_prefix(1);
	auto port = parse_number<uint16_t>(digits);
	if (!port)
		return failure("'" + escape(word) + "' is not a port: give a number up to 65535");
	return *port;
}

Result<Target> parse_target(std::string_view word)
{
	Target target;
	std::string_view address = word, port;

	if (word.starts_with('[')) {
		const size_t close = word.find(']');
		if (close == std::string_view::npos)
			return failure("'" + escape(word) + "' lacks the closing bracket");
		address = word.substr(1, close - 1);
		port = word.substr(close + 1);
	} else if (std::count(word.begin(), word.end(), ':') == 1) {
		address = word.substr(0, word.find(':'));
		port = word.substr(word.find(':'));
	}

	if (!port.empty()) {
		auto number = parse_port(port);
		if (!number)
			return tl::unexpected(number.error());
		target.port = *number;
	}
	if (!address.empty() && address != "*") {
		auto prefix = parse_prefix(address);
		if (!prefix)
			return tl::unexpected(prefix.error());
		target.prefix = *prefix;
	}
	return target;
}

bool is_equal(std::string_view word) { return word == "=" || word == "==" || word == "eq"; }
bool is_unequal(std::string_view word) { return word == "!=" || word == "ne"; }

/* The words left to read; take() answers an empty string at the end. */
class Words {
public:
	explicit Words(const std::vector<std::string> &words) : words_(words) {}

	bool done() const { return at_ == words_.size(); }
	std::string take() { return done() ? std::string() : words_[at_++]; }
	const std::string &peek() const
	{
		static const std::string none;
		return done() ? none : words_[at_];
	}

private:
	const std::vector<std::string> &words_;
	size_t at_ = 0;
};

} // namespace

Result<uint32_t> parse_state(const std::string &word)
{
	auto bit = [](State state) { return 1u << static_cast<unsigned>(state); };

	if (word == "all")
		return all_states;
	if (word == "connected")
		return all_states & ~bit(State::listen) & ~bit(State::close);
	if (word == "dead")
		return over_mask();
	if (auto state = value_of(state_names, word))
		return bit(*state);
	return failure("'" + escape(word) + "' is not a TCP state: try close, close-wait, "
		       "last-ack, established, connected, dead or all");
}

Result<Filter> parse_filter(Filter filter, const std::vector<std::string> &list)
{
	Words words(list);
	while (!words.done()) {
		const std::string key = words.take();
		if (key == "and")
			continue;
		if (key == "state") {
			auto mask = parse_state(words.take());
			if (!mask)
				return tl::unexpected(mask.error());
			filter.states |= *mask;
			continue;
		}

		const bool is_port = key == "sport" || key == "dport";
		if (!is_port && key != "src" && key != "dst")
			return failure("'" + escape(key) + "' is not a filter: state, sport, dport, "
				       "src and dst are");

		bool negate = false;
		if (is_equal(words.peek()) || is_unequal(words.peek()))
			negate = is_unequal(words.take());
		if (words.done())
			return failure("'" + key + "' needs a value");
		if (is_port) {
			auto port = parse_port(words.take());
			if (!port)
				return tl::unexpected(port.error());
			(key == "sport" ? filter.sport : filter.dport).push_back({*port, negate});
			continue;
		}

		if (negate)
			return failure("'" + key + "' takes no 'not equal'; sport and dport do");
		auto target = parse_target(words.take());
		if (!target)
			return tl::unexpected(target.error());
		if (target->prefix)
			(key == "src" ? filter.src : filter.dst).push_back(*target->prefix);
		if (target->port)
			(key == "src" ? filter.sport : filter.dport).push_back({*target->port, false});
	}
	return filter;
}

} // namespace rxstall
