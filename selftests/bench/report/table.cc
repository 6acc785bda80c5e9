// SPDX-License-Identifier: GPL-2.0
#include "bench/report/table.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench {

namespace {

std::string verdict(const Finding &finding)
{
	return !finding.met ? "" : *finding.met ? "met" : "MISSED";
}

std::vector<std::size_t> widths_of(const Table &table)
{
	std::vector<std::size_t> widths;

	for (std::size_t i = 0; i < table.columns.size(); i++) {
		widths.push_back(table.columns[i].size());
		for (const auto &row : table.rows)
			widths[i] = std::max(widths[i], row.at(i).size());
	}
	return widths;
}

std::string aligned(const std::vector<std::string> &cells,
		    const std::vector<std::size_t> &widths)
{
	std::string line;

	for (std::size_t i = 0; i < cells.size(); i++)
		line += fmt::format("{:<{}}  ", cells[i], widths[i]);
	line.erase(line.find_last_not_of(' ') + 1);
	return line + '\n';
}

std::string markdown_row(const std::vector<std::string> &cells)
{
	return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string bars(const Plot &plot)
{
	std::string data, what;

	for (std::size_t i = 0; i < plot.labels.size(); i++) {
		data += fmt::format("\"{}\"", plot.labels[i]);
		for (const Series &series : plot.series)
			data += fmt::format(" {}", series.y.at(i));
		data += '\n';
	}
	for (std::size_t i = 0; i < plot.series.size(); i++)
		what += fmt::format("{}$data using {}{} title \"{}\"",
				    i ? ", " : "", i + 2, i ? "" : ":xtic(1)",
				    plot.series[i].title);
	return "set style data histograms\nset style fill solid 0.8\n"
	       "set xtics rotate by -25\nset yrange [*<0:*]\n"
	       "$data << END\n" + data + "END\nplot " + what + '\n';
}

std::string lines(const Plot &plot)
{
	std::string data, what;

	for (std::size_t i = 0; i < plot.series.size(); i++) {
		const Series &series = plot.series[i];

		data += fmt::format("$data{} << END\n", i);
		for (std::size_t j = 0; j < series.x.size(); j++)
			data += fmt::format("{} {}\n", series.x[j],
					    series.y.at(j));
		data += "END\n";
		what += fmt::format("{}$data{} with linespoints title \"{}\"",
				    i ? ", " : "", i, series.title);
	}
	return data + (plot.logarithmic ? "set logscale xy\n" : "") + "plot " +
	       what + '\n';
}

} // namespace

Json to_json(const Table &table)
{
	Json findings = Json::array();

	for (const Finding &finding : table.findings)
		findings.push_back({{"question", finding.question},
				    {"answer", finding.answer},
				    {"met", finding.met ? Json(*finding.met)
							: Json(nullptr)}});
	return {{"name", table.name},
		{"title", table.title},
		{"columns", table.columns},
		{"rows", table.rows},
		{"findings", findings}};
}

Table table_from(const Json &json)
{
	Table table;

	json.at("name").get_to(table.name);
	json.at("title").get_to(table.title);
	json.at("columns").get_to(table.columns);
	json.at("rows").get_to(table.rows);
	for (const Json &finding : json.at("findings")) {
		const Json &met = finding.at("met");

		table.findings.push_back(
			{finding.at("question"), finding.at("answer"),
			 met.is_null() ? std::nullopt
				       : std::optional(met.get<bool>())});
	}
	return table;
}

Table summary_of(const std::vector<Table> &tables)
{
	Table summary{.name = "summary",
		      .title = "Summary",
		      .columns = {"question", "measured", "goal"},
		      .rows = {},
		      .findings = {},
		      .plot = {}};

	for (const Table &table : tables)
		for (const Finding &finding : table.findings)
			summary.rows.push_back({finding.question, finding.answer,
						verdict(finding)});
	return summary;
}

std::string to_text(const Table &table)
{
	const auto widths = widths_of(table);
	std::string text = table.title + "\n\n" + aligned(table.columns, widths);

	for (const auto &row : table.rows)
		text += aligned(row, widths);
	if (!table.findings.empty())
		text += '\n';
	for (const Finding &finding : table.findings)
		text += fmt::format("{:<7} {}: {}\n", verdict(finding),
				    finding.question, finding.answer);
	return text + '\n';
}

std::string to_markdown(const Table &table)
{
	std::string text = markdown_row(table.columns) + '|';

	for (std::size_t i = 0; i < table.columns.size(); i++)
		text += "---|";
	text += '\n';
	for (const auto &row : table.rows)
		text += markdown_row(row);
	return text;
}

std::string to_gnuplot(const Table &table)
{
	const Plot &plot = table.plot;

	return fmt::format("set terminal svg noenhanced size 960,540 font \"sans,13\" "
			   "background \"white\"\n"
			   "set output \"{}.svg\"\nset title \"{}\"\n"
			   "set xlabel \"{}\"\nset ylabel \"{}\"\n"
			   "set key outside right\nset grid\n",
			   table.name, table.title, plot.x_title, plot.y_title) +
	       (plot.labels.empty() ? lines(plot) : bars(plot));
}

} // namespace bench
