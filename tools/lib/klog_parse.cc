// SPDX-License-Identifier: GPL-2.0
#include "klog_parse.h"

#include "text.h"

namespace rxstall {

std::optional<PoolReport> parse_stalled_line(std::string_view text)
{
	constexpr std::string_view start = "page_pool_release_retry() stalled pool shutdown";

	if (!text.starts_with(start))
		return std::nullopt;
	text.remove_prefix(start.size());

	PoolReport report;
	if (text.starts_with(": id ")) {
		text.remove_prefix(5);
		report.id = parse_number<uint64_t>(next_field(text, ','));
		if (!report.id)
			return std::nullopt;
	}

	const auto words = split_words(text);
	if (words.size() != 4 || words[1] != "inflight" || words[3] != "sec")
		return std::nullopt;
	const auto inflight = parse_number<int64_t>(words[0]);
	/* the kernel prints a 32-bit difference: after 24.8 days at HZ=1000 it is negative */
	const auto seconds = parse_number<int64_t>(words[2]);
	if (!inflight || !seconds)
		return std::nullopt;
	report.inflight = *inflight;
	if (*seconds >= 0)
		report.stalled_s = static_cast<uint64_t>(*seconds);
	return report;
}

std::optional<PoolReport> parse_kmsg_record(std::string_view record)
{
	constexpr unsigned severities = 8;	/* the facility is what lies above */

	std::string_view text = record;
	std::string_view head = next_field(text, ';');
	const auto priority = parse_number<unsigned>(next_field(head, ','));
	(void)next_field(head, ',');
	const auto microseconds = parse_number<uint64_t>(next_field(head, ','));
	if (!priority || *priority >= severities || !microseconds)
		return std::nullopt;

	auto report = parse_stalled_line(next_field(text, '\n'));
	if (report)
		report->at = static_cast<double>(*microseconds) / 1e6;
	return report;
}

} // namespace rxstall
