// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

namespace rxstall {

Style style_for(int fd)
{
	Style style;
	if (!isatty(fd))
		return style;

	const char *no_color = std::getenv("NO_COLOR");
	style.colour = !no_color || !*no_color;
	winsize size{};
	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

void Table::add(std::vector<std::string> cells, bool bold)
{
	if (cells.size() != columns_.size())
		throw std::logic_error("table row of the wrong size");
	for (std::string &cell : cells)
		cell = escape(cell);
	rows_.push_back({std::move(cells), bold});
}

std::string Table::text(const Style &style) const
{
	std::vector<size_t> widths;
	for (size_t i = 0; i < columns_.size(); i++) {
		size_t width = style.header ? columns_[i].title.size() : 0;
		for (const Row &row : rows_)
			width = std::max(width, row.cells[i].size());
		widths.push_back(width);
	}

	std::string out;
	auto line = [&](auto cell, bool bold) {
		std::string text;
		for (size_t i = 0; i < columns_.size(); i++) {
			if (i)
				text += ' ';
			text += columns_[i].align == Align::right
					? fmt::format("{:>{}}", cell(i), widths[i])
					: fmt::format("{:<{}}", cell(i), widths[i]);
		}
		text.erase(text.find_last_not_of(' ') + 1);
		if (style.width && text.size() > style.width)
			text = text.substr(0, style.width - 1) + "+";
		out += bold && style.colour ? "\033[1m" + text + "\033[0m\n" : text + "\n";
	};

	if (style.header)
		line([&](size_t i) { return columns_[i].title; }, false);
	for (const Row &row : rows_)
		line([&](size_t i) { return row.cells[i]; }, row.bold);
	return out;
}

} // namespace rxstall
