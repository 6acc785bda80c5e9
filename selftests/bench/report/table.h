// SPDX-License-Identifier: GPL-2.0
/*
 * What `make bench` shows: tables with a picture each, and goals that are met or
 * missed. A table is text throughout, since it is only shown. Its form as JSON is
 * what the repository keeps; from that come the tables in the README files.
 */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

using Json = nlohmann::ordered_json;

/** A line of the summary: what was asked, what was found. */
struct Finding {
	std::string question;
	std::string answer;
	std::optional<bool> met;	/**< nothing: no goal was set */
};

struct Series {
	std::string title;
	std::vector<double> x;	/**< empty for bars */
	std::vector<double> y;
};

/** Lines over x, or bars over labels. */
struct Plot {
	std::string x_title;
	std::string y_title;
	bool logarithmic = false;
	std::vector<std::string> labels;	/**< of bars; empty: lines */
	std::vector<Series> series;
};

struct Table {
	std::string name;	/**< of its picture, and in the README files */
	std::string title;
	std::vector<std::string> columns;
	std::vector<std::vector<std::string>> rows;
	std::vector<Finding> findings;
	Plot plot;
};

Json to_json(const Table &table);
/** Without the picture. Throws nlohmann::json::exception on other JSON. */
Table table_from(const Json &json);

/** The summary: the findings of all @tables. */
Table summary_of(const std::vector<Table> &tables);

/** Columns aligned with spaces, and the findings. */
std::string to_text(const Table &table);
std::string to_markdown(const Table &table);

/** A program for gnuplot that writes @table's picture to NAME.svg. */
std::string to_gnuplot(const Table &table);

} // namespace bench
