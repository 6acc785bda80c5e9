// SPDX-License-Identifier: GPL-2.0
#include <algorithm>

#include <fmt/format.h>

#include "bench/report/records.h"

namespace bench {

namespace {

/* One interval, and a worker that runs a little later. */
constexpr double promised_intervals = 1.1;

struct Delays {
	std::string setting;
	std::string unread;
	std::vector<double> freed;	/* intervals, sorted */
	std::size_t repeats;
	double held_retries;		/* how long the others were watched */

	[[nodiscard]] bool purges() const
	{
		return setting == "1" || (setting == "2" && unread == "FIN");
	}
	[[nodiscard]] std::string at(double part) const
	{
		if (freed.empty())
			return "-";
		return fmt::format("{:.2f}",
				   freed[static_cast<std::size_t>(
					   part * static_cast<double>(
							  freed.size() - 1))]);
	}
};

Delays delays_of(const Records &records)
{
	Delays delays{records.front().at("setting"),
		      records.front().at("unread"),
		      {},
		      records.size(),
		      0};

	for (const Json &record : records) {
		const double intervals = record.at("intervals");

		if (intervals < 0)
			delays.held_retries = -intervals;
		else
			delays.freed.push_back(intervals);
	}
	std::sort(delays.freed.begin(), delays.freed.end());
	return delays;
}

Finding bounded(const std::vector<Delays> &all)
{
	double latest = 0;
	bool every = true;

	for (const Delays &delays : all)
		if (delays.purges()) {
			every = every && delays.freed.size() == delays.repeats;
			if (!delays.freed.empty())
				latest = std::max(latest, delays.freed.back());
		}
	return {"from the RST to the free pool where the queue is purged; goal: "
		"at most one retry interval of the pool (1.1 with its latency)",
		fmt::format("{}, {:.2f} intervals at most",
			    every ? "all freed" : "not all freed", latest),
		every && latest <= promised_intervals};
}

Finding never(const std::vector<Delays> &all)
{
	std::size_t freed = 0, repeats = 0;
	double retries = 0;

	for (const Delays &delays : all)
		if (!delays.purges()) {
			freed += delays.freed.size();
			repeats += delays.repeats;
			retries = std::max(retries, delays.held_retries);
		}
	return {"pools freed where nothing is purged (stock, 0; payload at 2)",
		fmt::format("{} of {}, each watched for {} retries", freed, repeats,
			    retries),
		{}};
}

/** How many have been freed after so many intervals, as a curve. */
Series curve_of(const Delays &delays)
{
	Series series{title_of(delays.setting) + ", " + delays.unread, {0}, {0}};

	for (std::size_t i = 0; i < delays.freed.size(); i++) {
		series.x.push_back(delays.freed[i]);
		series.y.push_back(100.0 * static_cast<double>(i + 1) /
				   static_cast<double>(delays.repeats));
	}
	if (delays.freed.empty()) {
		series.x.push_back(2);
		series.y.push_back(0);
	}
	return series;
}

} // namespace

Table freedom_table(const Records &all)
{
	const Records records = matching(all, {{"table", "freedom"}});
	std::vector<Delays> every;
	Table table{.name = "freedom",
		    .title = "From the RST to the free pool, in the pool's own "
			     "retry intervals",
		    .columns = {"setting", "unread", "freed", "least", "median",
				"9 of 10", "most"},
		    .rows = {},
		    .findings = {},
		    .plot = {.x_title = "retry intervals after the RST",
			     .y_title = "pools freed, %",
			     .logarithmic = false,
			     .labels = {},
			     .series = {}}};

	for (const std::string &setting : settings_of(records))
		for (const char *unread : {"FIN", "3 KB"})
			every.push_back(delays_of(
				matching(records, {{"setting", setting},
						   {"unread", unread}})));
	for (const Delays &delays : every) {
		table.rows.push_back(
			{title_of(delays.setting),
			 delays.unread == "FIN" ? "FIN only" : delays.unread,
			 fmt::format("{} of {}", delays.freed.size(),
				     delays.repeats),
			 delays.at(0), delays.at(0.5), delays.at(0.9),
			 delays.at(1)});
		table.plot.series.push_back(curve_of(delays));
	}
	table.findings = {bounded(every), never(every)};
	return table;
}

Table log_table(const Records &all)
{
	const Records records = matching(all, {{"table", "log"}});
	Table table{.name = "log",
		    .title = "What is said about stalled pools",
		    .columns = {"setting", "pools destroyed", "stalled", "minutes",
				"log lines", "trace events"},
		    .rows = {},
		    .findings = {},
		    .plot = {}};
	Series lines{"log lines", {}, {}}, events{"trace events", {}, {}};

	for (const std::string &setting : settings_of(records)) {
		const Json record =
			matching(records, {{"setting", setting}}).at(0);

		table.rows.push_back({title_of(setting)});
		for (const char *key :
		     {"pools", "stalled", "minutes", "lines", "events"})
			table.rows.back().push_back(record.at(key).dump());
		table.plot.labels.push_back(title_of(setting));
		lines.y.push_back(record.at("lines"));
		events.y.push_back(record.at("events"));
	}
	table.plot.y_title = "how many";
	table.plot.series = {lines, events};

	const Json stock = matching(records, {{"setting", "stock"}}).at(0);
	const Json zero = matching(records, {{"setting", "0"}}).at(0);
	const int stalled = zero.at("stalled");
	const int minutes = zero.at("minutes");

	table.findings = {
		{fmt::format("log lines on {} stalled pools in {} minutes; goal: "
			     "one a pool", stalled, minutes),
		 fmt::format("stock {}, patched {}", stock.at("lines").dump(),
			     zero.at("lines").dump()),
		 zero.at("lines") == stalled},
		{"trace events on them; goal: one a pool and minute",
		 fmt::format("stock has none, patched {}",
			     zero.at("events").dump()),
		 zero.at("events") == stalled * minutes}};
	return table;
}

} // namespace bench
