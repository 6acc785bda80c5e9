// SPDX-License-Identifier: GPL-2.0
#include "trace_parse.h"

#include <array>

#include "names.h"
#include "text.h"

namespace rxstall {

namespace {

/* As TP_printk in include/trace/events/sock.h spells the states. */
constexpr std::array<Name<State>, 11> event_states{{
	{State::established, "TCP_ESTABLISHED"},
	{State::syn_sent, "TCP_SYN_SENT"},
	{State::syn_recv, "TCP_SYN_RECV"},
	{State::fin_wait1, "TCP_FIN_WAIT1"},
	{State::fin_wait2, "TCP_FIN_WAIT2"},
	{State::time_wait, "TCP_TIME_WAIT"},
	{State::close, "TCP_CLOSE"},
	{State::close_wait, "TCP_CLOSE_WAIT"},
	{State::last_ack, "TCP_LAST_ACK"},
	{State::listen, "TCP_LISTEN"},
	{State::closing, "TCP_CLOSING"},
}};

/* "name: key=value key=value", or nothing if the name is another. */
class Fields {
public:
	static std::optional<Fields> of(std::string_view line, std::string_view name)
	{
		while (line.starts_with(' '))
			line.remove_prefix(1);
		if (!line.starts_with(name) || !line.substr(name.size()).starts_with(": "))
			return std::nullopt;
		return Fields(line.substr(name.size() + 2));
	}

	std::optional<std::string_view> text(std::string_view key) const
	{
		for (std::string_view word : split_words(line_)) {
			const std::string_view name = next_field(word, '=');
			if (name == key)
				return word;
		}
		return std::nullopt;
	}

	template <class T>
	std::optional<T> number(std::string_view key) const
	{
		auto word = text(key);
		return word ? parse_number<T>(*word) : std::nullopt;
	}

private:
	explicit Fields(std::string_view line) : line_(line) {}

	std::string_view line_;
};

} // namespace

std::optional<PoolReport> parse_pool_event(std::string_view line, double at)
{
	auto fields = Fields::of(line, "page_pool_release");
	const bool plain = fields.has_value();
	if (!fields)
		fields = Fields::of(line, "page_pool_release_stalled");
	if (!fields)
		return std::nullopt;

	const auto inflight = fields->number<int64_t>("inflight");
	const auto address = fields->text("page_pool");
	if (!inflight || !address)
		return std::nullopt;

	PoolReport report;
	report.source = ReportSource::event;
	report.at = at;
	report.address = *address;
	report.inflight = *inflight;
	report.id = fields->number<uint64_t>("id");
	report.stalled_s = fields->number<uint64_t>(plain ? "cnt" : "secs");
	report.hold = fields->number<uint32_t>("hold");
	report.ifindex = fields->number<uint32_t>("ifindex").value_or(0);
	return report;
}

std::optional<StateChange> parse_state_event(std::string_view line)
{
	const auto fields = Fields::of(line, "inet_sock_set_state");
	if (!fields || fields->text("protocol") != "IPPROTO_TCP")
		return std::nullopt;

	const auto from = value_of(event_states, fields->text("oldstate").value_or(""));
	const auto to = value_of(event_states, fields->text("newstate").value_or(""));
	const auto sport = fields->number<uint16_t>("sport");
	const auto dport = fields->number<uint16_t>("dport");
	const bool six = fields->text("family") == "AF_INET6";
	const auto saddr = fields->text(six ? "saddrv6" : "saddr");
	const auto daddr = fields->text(six ? "daddrv6" : "daddr");
	if (!from || !to || !sport || !dport || !saddr || !daddr)
		return std::nullopt;
	return StateChange{six ? Family::ipv6 : Family::ipv4, {std::string(*saddr), *sport},
			   {std::string(*daddr), *dport}, *from, *to};
}

} // namespace rxstall
