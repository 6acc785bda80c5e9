// SPDX-License-Identifier: GPL-2.0
#include "limits.h"

#include "text.h"

namespace rxstall {

std::optional<uint64_t> parse_open_files(std::string_view limits)
{
	constexpr std::string_view title = "Max open files";

	while (!limits.empty()) {
		const std::string_view line = next_field(limits, '\n');
		if (!line.starts_with(title))
			continue;
		const auto words = split_words(line.substr(title.size()));
		return words.empty() ? std::nullopt : parse_number<uint64_t>(words.front());
	}
	return std::nullopt;
}

} // namespace rxstall
