// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/report/records.h"

namespace bench {

namespace {

/* The kernel adds a CPU's buffer memory to the total only beyond this many
 * pages (SK_MEMORY_PCPU_RESERVE, 1 MB). */
constexpr double batch_pages = 256;
/* Slabs are counted in whole pages and objects of others lie between. */
constexpr double slab_tolerance = 0.02;

/** The figures of one kind of queue in one setting, over the number of sockets. */
struct Growth {
	std::string setting;
	std::string unread;
	std::vector<double> sockets, mem, pages, slab, available;

	[[nodiscard]] bool purges() const
	{
		return setting == "1" || (setting == "2" && unread == "FIN");
	}
};

/** @values as what they differ from the first by. */
std::vector<double> grown(const Records &records, const char *key)
{
	std::vector<double> values;

	for (const Json &record : records)
		values.push_back(record.at(key).get<double>() -
				 records.front().at(key).get<double>());
	return values;
}

Growth growth_of(const Records &records)
{
	Growth growth{records.front().at("setting"),
		      records.front().at("unread"),
		      {},
		      grown(records, "sockstat_pages"),
		      grown(records, "pool_pages"),
		      grown(records, "slab_kib"),
		      grown(records, "available_kib")};

	for (const Json &record : records)
		growth.sockets.push_back(record.at("sockets"));
	for (double &lost : growth.available)
		lost = -lost;
	return growth;
}

/** Those for each number of sockets but none: "1 / 2 / 3". */
std::string cell(const std::vector<double> &values, double divisor,
		 int digits)
{
	std::vector<std::string> texts;

	for (std::size_t i = 1; i < values.size(); i++)
		texts.push_back(fmt::format("{:.{}f}", values[i] / divisor + 0.0,
					    digits));
	return fmt::format("{}", fmt::join(texts, " / "));
}

std::string unread_title(const std::string &unread)
{
	return unread == "FIN" ? "FIN only" : unread;
}

Finding nothing_held(const std::vector<Growth> &all)
{
	double mem = 0, pages = 0;

	for (const Growth &growth : all)
		if (growth.purges()) {
			mem = std::max(mem, growth.mem.back());
			pages = std::max(pages, growth.pages.back());
		}
	return {fmt::format("pages held by {} dead sockets where the queue is "
			    "purged (1; at 2 a lone FIN); goal: none",
			    all.front().sockets.back()),
		fmt::format("{} in the pool, sockstat {:+} (it counts in steps of "
			    "{})", pages, mem, batch_pages),
		pages == 0 && mem <= batch_pages};
}

Finding only_sockets(const std::vector<Growth> &all)
{
	double most = 0;

	for (const Growth &growth : all) {
		/* The reference: nothing unread, on the same kernel at 0. */
		const auto empty = std::find_if(
			all.begin(), all.end(), [](const Growth &other) {
				return other.unread == "nothing" &&
				       other.setting == "0";
			});
		const double share = growth.slab.back() / empty->slab.back() - 1;

		if (growth.purges())
			most = std::max(most, share);
	}
	return {"slab of these sockets against sockets with nothing unread; goal: "
		"the same within 2 %",
		fmt::format("{:+.1f} % at most", most * 100),
		most <= slab_tolerance};
}

Finding held_without(const std::vector<Growth> &all)
{
	std::string text;

	for (const Growth &growth : all)
		if (growth.setting == "stock" && growth.unread != "nothing")
			text += fmt::format("{}{:.2f} ({})",
					    text.empty() ? "" : ", ",
					    growth.pages.back() /
						    growth.sockets.back(),
					    unread_title(growth.unread));
	return {"pages of the pool that a dead socket holds on stock", text, {}};
}

} // namespace

Table held_table(const Records &all)
{
	const Records records = matching(all, {{"table", "held"}});
	std::vector<Growth> growths;
	Table table{.name = "held",
		    .title = "Memory that dead sockets hold",
		    .columns = {"setting", "unread", "sockets",
				"pages of the pool", "sockstat, pages",
				"slab, MiB", "MemAvailable lost, MiB"},
		    .rows = {},
		    .findings = {},
		    .plot = {.x_title = "dead sockets",
			     .y_title = "pages of the pool in flight",
			     .logarithmic = true,
			     .labels = {},
			     .series = {}}};

	for (const std::string &setting : settings_of(records))
		for (const char *unread : {"nothing", "FIN", "3 KB"})
			if (const auto some = matching(records,
						       {{"setting", setting},
							{"unread", unread}});
			    !some.empty())
				growths.push_back(growth_of(some));
	for (const Growth &growth : growths) {
		table.rows.push_back({title_of(growth.setting),
				      unread_title(growth.unread),
				      cell(growth.sockets, 1, 0),
				      cell(growth.pages, 1, 0),
				      cell(growth.mem, 1, 0),
				      cell(growth.slab, 1024, 1),
				      cell(growth.available, 1024, 1)});
		if (growth.unread == "nothing")
			continue;
		/* A logarithmic axis has no 0: 0.1 stands for it. */
		std::vector<double> pages;

		for (const double value : growth.pages)
			pages.push_back(std::max(value, 0.1));
		table.plot.series.push_back(
			{title_of(growth.setting) + ", " +
				 unread_title(growth.unread),
			 {growth.sockets.begin() + 1, growth.sockets.end()},
			 {pages.begin() + 1, pages.end()}});
	}
	table.findings = {held_without(growths), nothing_held(growths),
			  only_sockets(growths)};
	return table;
}

} // namespace bench
