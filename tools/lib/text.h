/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text for people: sizes, spans of time, and above all the escaping that
 * keeps foreign bytes (process names, device names, log lines) from
 * reaching a terminal raw.
 */
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rxstall {

/*
 * Foreign bytes made safe for a terminal: anything but printable ASCII
 * becomes \xNN, a backslash becomes two.
 */
[[nodiscard]] std::string escape(std::string_view bytes);

/* "832", "12.4K", "3.9M": three significant digits, powers of 1024. */
[[nodiscard]] std::string human_bytes(uint64_t bytes);

/* "1 socket", "2 sockets", "3 processes". */
[[nodiscard]] std::string plural(uint64_t count, std::string_view one);

/* "450ms", "12s", "4m10s", "3h05m", "6d20h". */
[[nodiscard]] std::string human_span(uint64_t milliseconds);

/*
 * A span as a user types it, in milliseconds: a number with one of the
 * units ms, s, m, h, d; a bare number means seconds. Nothing if it is not
 * such a span or does not fit.
 */
[[nodiscard]] std::optional<uint64_t> parse_span(std::string_view text);

/* The whole text as a decimal number of this type, or nothing. */
template <class T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text)
{
	T value{};
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size() || text.empty())
		return std::nullopt;
	return value;
}

/* The fields between runs of blanks and tabs. */
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view line);

/* Takes the text up to the separator off the front of rest. */
std::string_view next_field(std::string_view &rest, char separator);

} // namespace rxstall
