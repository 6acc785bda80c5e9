// SPDX-License-Identifier: GPL-2.0
#include "reproduce_print.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace reproduce {

namespace {

using namespace selftest;

/* The peer of a v4-mapped socket is IPv4 on the wire. */
std::string title_of(const Report &report)
{
	return fmt::format("{} {} sysctl {}", report.what->name,
			   to_string(report.family), report.sysctl);
}

std::string calls(std::string_view name, const std::vector<std::string> &results)
{
	return fmt::format("{} {}", name, fmt::join(results, ", "));
}

/* The beginning and the end of what went over the wire. */
std::string wire_text(const std::vector<WireLine> &wire)
{
	constexpr std::size_t begin = 8;
	constexpr std::size_t end = 4;
	const bool all = wire.size() <= begin + end + 1;
	std::string text;

	for (std::size_t i = 0; i < wire.size(); i++) {
		if (all || i < begin || i >= wire.size() - end)
			text += fmt::format("  {}\n", wire[i].text);
		else if (i == begin)
			text += fmt::format("  ... {} more\n",
					    wire.size() - begin - end);
	}
	return text;
}

std::string crowd_text(const Crowd &crowd)
{
	std::string text;

	if (crowd.waiting > 0)
		text += fmt::format("  crowd   {} not yet accepted\n",
				    crowd.waiting);
	for (const auto &[kind, count] : crowd.by_state_and_queue)
		text += fmt::format("  crowd   {} x {}, {}\n", count, kind.first,
				    kind.second);
	if (crowd.sockets > 0)
		text += fmt::format("          rmem {} to {} each, {} in all; "
				    "unread {}\n",
				    crowd.rmem_least, crowd.rmem_most,
				    crowd.rmem_total, crowd.unread_total);
	return text;
}

nlohmann::json wire_json(const WireLine &line)
{
	nlohmann::json object = {
		{"from", line.from_peer ? "peer" : "kernel"},
		{"flags", line.flags},
		{"seq", line.seq},
		{"len", line.len},
		{"window", line.window},
	};

	if (line.ack)
		object["ack"] = *line.ack;
	return object;
}

nlohmann::json crowd_json(const Crowd &crowd)
{
	nlohmann::json groups = nlohmann::json::array();

	for (const auto &[kind, count] : crowd.by_state_and_queue)
		groups.push_back({{"state", kind.first},
				  {"queue", kind.second},
				  {"sockets", count}});
	return {{"sockets", crowd.sockets},
		{"not_accepted", crowd.waiting},
		{"groups", groups},
		{"rmem_min", crowd.rmem_least},
		{"rmem_max", crowd.rmem_most},
		{"rmem_total", crowd.rmem_total},
		{"unread_total", crowd.unread_total}};
}

} // namespace

std::string list_text()
{
	std::string text;

	for (const Case &one : cases())
		text += fmt::format("{:<20}{}\n", one.name, one.help);
	return text;
}

std::string report_text(const Report &report)
{
	const Facts &facts = report.facts;
	std::string text = fmt::format("{}: {}\n", title_of(report),
				       report.what->help);

	text += wire_text(report.wire);
	if (report.waiting > 0)
		text += fmt::format("  waiting {} for accept()\n",
				    report.waiting);
	text += fmt::format("  left    {}  rmem {}  unread {}  queue: {}\n",
			    state_name(facts.state), facts.rmem, facts.unread,
			    to_string(facts.queue()));
	text += fmt::format("          poll {}; sock_diag: {}\n",
			    poll_text(facts.poll),
			    report.listed);
	text += fmt::format("  calls   {}; then {}\n",
			    calls("recv", report.reader_recv),
			    calls("send", report.reader_send));
	text += fmt::format("  or      {}; then {}\n",
			    calls("send", report.writer_send),
			    calls("recv", report.writer_recv));
	if (report.crowd)
		text += crowd_text(*report.crowd);
	for (const std::string &difference : differences(report))
		text += fmt::format("  differs {}\n", difference);
	return text;
}

std::string check_text(const Report &report)
{
	const auto found = differences(report);
	std::string text = fmt::format("{} {}\n", found.empty() ? "ok" : "differs",
				       title_of(report));

	for (const std::string &difference : found)
		text += fmt::format("  {}\n", difference);
	return text;
}

nlohmann::json report_json(const Report &report)
{
	const Facts &facts = report.facts;
	nlohmann::json object = {
		{"case", report.what->name},
		{"family", to_string(report.family)},
		{"sysctl", report.sysctl},
		{"wire", nlohmann::json::array()},
		{"accept_queue", report.waiting},
		{"state", state_name(facts.state)},
		{"rmem", facts.rmem},
		{"unread", facts.unread},
		{"queue", to_string(facts.queue())},
		{"poll", poll_text(facts.poll)},
		{"sock_diag", report.listed},
		{"reader",
		 {{"recv", report.reader_recv}, {"send", report.reader_send}}},
		{"writer",
		 {{"send", report.writer_send}, {"recv", report.writer_recv}}},
		{"differences", differences(report)},
	};

	for (const WireLine &line : report.wire)
		object["wire"].push_back(wire_json(line));
	if (report.crowd)
		object["crowd"] = crowd_json(*report.crowd);
	return object;
}

} // namespace reproduce
