// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "bench/report/records.h"

namespace bench {

namespace {

constexpr double tolerance = 0.001;
const std::string both = "RST and close()";

/** What one step of one case took, a figure for each run of the bench. */
using Runs = std::vector<double>;

double mean(const Runs &runs)
{
	double sum = 0;

	for (const double one : runs)
		sum += one;
	return sum / static_cast<double>(runs.size());
}

/** How far apart the runs are, as a part of the first. */
double spread(const Runs &runs)
{
	const auto [least, most] = std::minmax_element(runs.begin(), runs.end());

	return (*most - *least) / runs.front();
}

struct Row {
	std::string name;	/* the case */
	std::string step;
	std::map<std::string, Runs> settings;

	[[nodiscard]] double at(const std::string &setting) const
	{
		return mean(settings.at(setting));
	}
	[[nodiscard]] double more(const std::string &setting) const
	{
		return at(setting) - at("stock");
	}
	[[nodiscard]] double share(const std::string &setting) const
	{
		return more(setting) / at("stock");
	}
	[[nodiscard]] double repeatability() const
	{
		double most = 0;

		for (const auto &[setting, runs] : settings)
			most = std::max(most, spread(runs));
		return most;
	}
};

std::string step_title(const std::string &step)
{
	return step == "rst" ? "RST" : step == "close" ? "close()" : "all of it";
}

Row row_of(const Records &records, const std::string &name,
	   const std::string &step)
{
	Row row{name, step_title(step), {}};

	for (const std::string &setting : settings_of(records))
		for (const Json &record :
		     matching(records, {{"case", name},
					{"step", step},
					{"setting", setting}}))
			row.settings[setting].push_back(record.at("instructions"));
	return row;
}

Row sum_of(const Row &a, const Row &b)
{
	Row sum{a.name, both, {}};

	for (const auto &[setting, runs] : a.settings)
		for (std::size_t i = 0; i < runs.size(); i++)
			sum.settings[setting].push_back(
				runs[i] + b.settings.at(setting).at(i));
	return sum;
}

std::vector<Row> rows_of(const Records &records)
{
	std::vector<Row> rows;

	for (const Json &name : values_of(records, "case")) {
		const Records one = matching(records, {{"case", name}});

		if (values_of(one, "step").size() == 1) {
			rows.push_back(row_of(one, name, "all"));
			continue;
		}
		const Row rst = row_of(one, name, "rst");
		const Row close = row_of(one, name, "close");

		rows.insert(rows.end(), {rst, close, sum_of(rst, close)});
	}
	return rows;
}

const Row &find(const std::vector<Row> &rows, const std::string &part,
		const std::string &step)
{
	for (const Row &row : rows)
		if (row.name.find(part) != std::string::npos && row.step == step)
			return row;
	throw std::runtime_error("no figures on: " + part);
}

std::string percent(double share)
{
	return fmt::format("{:+.2f} %", share * 100 + 0.0);
}

std::string cell(const Row &row, const std::string &setting)
{
	const long more = std::lround(row.more(setting));

	return more ? fmt::format("{:+} ({})", more, percent(row.share(setting)))
		    : "same";
}

/** The largest of what @settings differ from stock in rows without a RST. */
Finding without_rst(const std::vector<Row> &rows)
{
	double most = 0;

	for (const Row &row : rows)
		for (const char *setting : {"0", "1", "2"})
			if (row.name.find("RST") == std::string::npos &&
			    std::abs(row.share(setting)) > std::abs(most))
				most = row.share(setting);
	return {"instructions on paths without a RST, patched (0, 1, 2) against "
		"stock; goal: the same",
		fmt::format("{} at most",
			    percent(most)),
		std::abs(most) <= tolerance};
}

Finding at_zero(const std::string &question, const Row &row)
{
	return {question + ", 0 against stock; goal: at most 0.1 % more",
		fmt::format("{:+} of {} instructions, {}",
			    std::lround(row.more("0")),
			    std::lround(row.at("stock")),
			    percent(row.share("0"))),
		row.share("0") <= tolerance};
}

Finding purge_against_close(const std::vector<Row> &rows)
{
	const Row &rst = find(rows, "FIN only", "RST");
	const Row &close = find(rows, "FIN only", "close()");
	const Row &sum = find(rows, "FIN only", both);
	const double purge = rst.at("2") - rst.at("0");

	return {"purge of a lone FIN at 2; goal: less than the close() that would "
		"otherwise do it",
		fmt::format("{} instructions, close() {}; RST and close() together "
			    "{:+}",
			    std::lround(purge), std::lround(close.at("0")),
			    std::lround(sum.at("2") - sum.at("0"))),
		purge < close.at("0")};
}

Finding repeatable(const std::vector<Row> &rows)
{
	double most = 0;

	for (const Row &row : rows)
		most = std::max(most, row.repeatability());
	return {"each measured in two boots; goal: within 0.1 %",
		fmt::format("{:.2f} % at most", most * 100), most <= tolerance};
}

} // namespace

Table cost_table(const Records &all)
{
	const Records records = matching(all, {{"table", "cost"}});
	const std::vector<Row> rows = rows_of(records);
	Table table{.name = "cost",
		    .title = "Instructions of the kernel, and what the patches add",
		    .columns = {"case", "step", "stock", "patched, 0",
				"patched, 1", "patched, 2", "two runs differ by"},
		    .rows = {},
		    .findings = {},
		    .plot = {}};

	table.plot.y_title = "instructions more than stock, %";
	for (const char *setting : {"0", "1", "2"})
		table.plot.series.push_back({title_of(setting), {}, {}});
	for (const Row &row : rows) {
		table.rows.push_back(
			{row.name, row.step,
			 std::to_string(std::lround(row.at("stock"))),
			 cell(row, "0"), cell(row, "1"), cell(row, "2"),
			 fmt::format("{:.2f} %", row.repeatability() * 100)});
		if (row.step == "RST" || row.step == "close()")
			continue;
		table.plot.labels.push_back(row.name);
		for (std::size_t i = 0; const char *setting : {"0", "1", "2"})
			table.plot.series[i++].y.push_back(100 *
							   row.share(setting));
	}
	table.findings = {
		without_rst(rows),
		at_zero("a connection that ends with FIN and RST, all of it",
			find(rows, "FIN, RST, close", "all of it")),
		at_zero("the segment with the RST alone, FIN queued",
			find(rows, "FIN only", "RST")),
		at_zero("the segment with the RST alone, ESTABLISHED",
			find(rows, "ESTABLISHED", "RST")),
		purge_against_close(rows),
		repeatable(rows),
	};
	return table;
}

} // namespace bench
