// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <array>
#include <fmt/format.h>
#include <limits>

namespace rxstall {

std::string escape(std::string_view bytes)
{
	std::string out;
	out.reserve(bytes.size());
	for (unsigned char c : bytes) {
		if (c == '\\')
			out += "\\\\";
		else if (c < 0x20 || c >= 0x7f)
			out += fmt::format("\\x{:02x}", c);
		else
			out += static_cast<char>(c);
	}
	return out;
}

std::string human_bytes(uint64_t bytes)
{
	static constexpr std::string_view units = "KMGTPE";

	if (bytes < 1024)
		return fmt::format("{}", bytes);

	double value = static_cast<double>(bytes);
	size_t unit = 0;
	for (value /= 1024; value >= 1024 && unit + 1 < units.size(); unit++)
		value /= 1024;
	return value < 100 ? fmt::format("{:.1f}{}", value, units[unit])
			   : fmt::format("{:.0f}{}", value, units[unit]);
}

std::string plural(uint64_t count, std::string_view one)
{
	return fmt::format("{} {}{}", count, one, count == 1 ? "" : one.ends_with('s') ? "es" : "s");
}

std::string human_span(uint64_t milliseconds)
{
	const uint64_t seconds = milliseconds / 1000;

	if (milliseconds < 1000)
		return fmt::format("{}ms", milliseconds);
	if (seconds < 60)
		return fmt::format("{}s", seconds);
	if (seconds < 3600)
		return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
	if (seconds < 86400)
		return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
	return fmt::format("{}d{:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::optional<uint64_t> parse_span(std::string_view text)
{
	struct Unit {
		std::string_view suffix;
		uint64_t milliseconds;
	};
	/* "ms" before "s", or the shorter one would match first */
	static constexpr std::array<Unit, 5> units{{
		{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000},
	}};

	uint64_t factor = 1000;
	for (const Unit &unit : units) {
		if (!text.ends_with(unit.suffix))
			continue;
		text.remove_suffix(unit.suffix.size());
		factor = unit.milliseconds;
		break;
	}

	auto number = parse_number<uint64_t>(text);
	if (!number || *number > std::numeric_limits<uint64_t>::max() / factor)
		return std::nullopt;
	return *number * factor;
}

std::vector<std::string_view> split_words(std::string_view line)
{
	static constexpr std::string_view blanks = " \t\n";

	std::vector<std::string_view> words;
	size_t at = line.find_first_not_of(blanks);
	while (at != std::string_view::npos) {
		size_t end = line.find_first_of(blanks, at);
		words.push_back(line.substr(at, end - at));
		at = line.find_first_not_of(blanks, end);
	}
	return words;
}

std::string_view next_field(std::string_view &rest, char separator)
{
	const size_t at = rest.find(separator);
	std::string_view field = rest.substr(0, at);
	rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
	return field;
}

} // namespace rxstall
