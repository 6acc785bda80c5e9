/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Columns for people. Every cell is escaped here, once, so no caller can
 * forget it; widths follow the content, and on a terminal the last column
 * is cut to fit.
 */
#pragma once

#include <string>
#include <vector>

namespace rxstall {

enum class Align : uint8_t { left, right };

struct Column {
	std::string title;
	Align align = Align::left;
};

/* How to print: what the options and the output's terminal ask for. */
struct Style {
	bool header = true;
	bool colour = false;
	size_t width = 0;	/* 0: as wide as the content */
};

/* The style that fits file descriptor fd, obeying NO_COLOR. */
[[nodiscard]] Style style_for(int fd);

class Table {
public:
	explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

	/* Adds a row of raw cells, one a column; bold marks it for colour. */
	void add(std::vector<std::string> cells, bool bold = false);

	[[nodiscard]] std::string text(const Style &style) const;

private:
	struct Row {
		std::vector<std::string> cells;
		bool bold;
	};

	std::vector<Column> columns_;
	std::vector<Row> rows_;
};

} // namespace rxstall
