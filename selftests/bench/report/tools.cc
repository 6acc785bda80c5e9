// SPDX-License-Identifier: GPL-2.0
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "bench/report/records.h"

namespace bench {

namespace {

const std::string reference = "ss -tapnm";
const std::string bpf = "rxstall, BPF";
const std::string walk = "rxstall, /proc";
/* What a scan must stay below, as a part of what ss takes. */
constexpr double bpf_goal = 1.0 / 20;
constexpr double walk_goal = 1.0 / 3;
constexpr int goal_sockets = 50000;

/** A ratio with two digits that count. */
std::string ratio(double value)
{
	if (value >= 10)
		return fmt::format("{:.0f}", value);
	return value >= 0.995 ? fmt::format("{:.1f}", value)
			      : fmt::format("{:.2g}", value);
}

/** @key of the one record of @tool, relative to that of the reference. */
double relative(const Records &records, const std::string &tool, const char *key)
{
	const Json one = matching(records, {{"tool", tool}}).at(0);
	const Json other = matching(records, {{"tool", reference}}).at(0);

	return one.at(key).get<double>() / other.at(key).get<double>();
}

std::string cell(const Records &records, const std::string &tool)
{
	return fmt::format("{} / {} / {}",
			   ratio(relative(records, tool, "wall_ns")),
			   ratio(relative(records, tool, "cpu_ns")),
			   ratio(relative(records, tool, "peak_kib")));
}

/**
 * The exponent e of time ~ sockets^e, from a straight line through the logarithms;
 * 10000 sockets and more, where the time for starting up does not count.
 */
std::string exponent(const Records &records, const std::string &tool)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

	for (const Json &record : matching(records, {{"tool", tool}})) {
		const double sockets = record.at("sockets");

		if (sockets < 10000)
			continue;
		const double x = std::log(sockets);
		const double y = std::log(record.at("cpu_ns").get<double>());

		n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
	}
	return n < 2 ? "-"
		     : fmt::format("{:.1f}",
				   (n * sxy - sx * sy) / (n * sxx - sx * sx));
}

Finding scan_goal(const Records &records, const std::string &tool, double goal)
{
	const Records at = matching(records, {{"sockets", goal_sockets},
					      {"processes", 50}});
	const std::string question = fmt::format(
		"a scan with {} of {} sockets, relative to {}; goal: at most "
		"{:.2g}", tool, goal_sockets, reference, goal);

	if (at.empty())
		return {question, "not measured", {}};
	const double time = relative(at, tool, "wall_ns");

	return {question,
		fmt::format("{} of the time, {} of the CPU time", ratio(time),
			    ratio(relative(at, tool, "cpu_ns"))),
		time <= goal};
}

} // namespace

Table scan_table(const Records &all)
{
	const Records records = matching(all, {{"table", "scan"}});
	const std::vector<Json> tools = values_of(records, "tool");
	Table table{.name = "scan",
		    .title = "A scan relative to " + reference +
			     ": time / CPU time / peak memory",
		    .columns = {"processes", "sockets"},
		    .rows = {},
		    .findings = {scan_goal(records, bpf, bpf_goal),
				 scan_goal(records, walk, walk_goal)},
		    .plot = {.x_title = "sockets",
			     .y_title = "CPU time relative to " + reference,
			     .logarithmic = true,
			     .labels = {},
			     .series = {}}};

	for (const Json &tool : tools)
		table.columns.push_back(tool);
	for (const Json &processes : values_of(records, "processes")) {
		const Records some = matching(records, {{"processes", processes}});
		std::map<std::string, Series> series;

		for (const Json &sockets : values_of(some, "sockets")) {
			const Records one = matching(some, {{"sockets", sockets}});
			std::vector<std::string> row{processes.dump(),
						     sockets.dump()};

			for (const Json &tool : tools) {
				row.push_back(cell(one, tool));
				series[tool].x.push_back(sockets);
				series[tool].y.push_back(
					relative(one, tool, "cpu_ns"));
			}
			table.rows.push_back(row);
		}
		std::vector<std::string> growth{
			processes.dump(), "exponent of the CPU time's growth"};

		for (const Json &tool : tools) {
			growth.push_back(exponent(some, tool));
			series[tool].title = fmt::format("{}, {} processes",
							 tool.get<std::string>(),
							 processes.dump());
			table.plot.series.push_back(series[tool]);
		}
		table.rows.push_back(growth);
	}
	return table;
}

Table release_table(const Records &all)
{
	const Records records = matching(all, {{"table", "release"}});
	const Json watch = matching(all, {{"table", "watch"}}).at(0);
	Table table{.name = "release",
		    .title = "Releasing dead sockets: rxstall relative to a recv() "
			     "each by their owner",
		    .columns = {"sockets", "instructions relative to plain recv()"},
		    .rows = {},
		    .findings = {},
		    .plot = {.x_title = "sockets released",
			     .y_title = "instructions relative to plain recv()",
			     .logarithmic = true,
			     .labels = {},
			     .series = {{"rxstall release", {}, {}}}}};
	Series &series = table.plot.series[0];

	for (const Json &record : records) {
		const double times = record.at("release").get<double>() /
				     record.at("plain").get<double>();

		table.rows.push_back({record.at("sockets").dump(), ratio(times)});
		series.x.push_back(record.at("sockets"));
		series.y.push_back(times);
	}

	/* What a socket more costs, without start-up and the scan. */
	const auto slope = [&records](const char *key) {
		return records.back().at(key).get<double>() -
		       records.front().at(key).get<double>();
	};
	const double idle = watch.at("instructions");
	const double scan = watch.at("scan_instructions");

	table.findings = {
		{"rxstall release --apply against one recv() a socket by its owner",
		 records.size() < 2
			 ? "not measured"
			 : fmt::format("{} times the instructions for {} sockets, "
				       "{} times for each further one",
				       table.rows.back()[1], table.rows.back()[0],
				       ratio(slope("release") /
					     slope("plain"))),
		 {}},
		{fmt::format("rxstall watch while nothing happens for {} s; goal: "
			     "less than 1 % of one scan", watch.at("seconds").dump()),
		 fmt::format("{:.2f} % of the instructions of a scan",
			     std::max(idle, 0.0) / scan * 100),
		 idle < scan / 100}};
	return table;
}

} // namespace bench
