/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The spellings of the enumerations, one table each, used by the options,
 * the tables, the JSON and the snapshot alike.
 */
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "facts.h"

namespace rxstall {

template <class E>
struct Name {
	E value;
	std::string_view text;
};

/* The names `ss` prints and accepts, in lower case. */
inline constexpr std::array<Name<State>, 11> state_names{{
	{State::established, "established"},
	{State::syn_sent, "syn-sent"},
	{State::syn_recv, "syn-recv"},
	{State::fin_wait1, "fin-wait-1"},
	{State::fin_wait2, "fin-wait-2"},
	{State::time_wait, "time-wait"},
	{State::close, "close"},
	{State::close_wait, "close-wait"},
	{State::last_ack, "last-ack"},
	{State::listen, "listen"},
	{State::closing, "closing"},
}};

inline constexpr std::array<Name<Maybe>, 3> maybe_names{{
	{Maybe::no, "no"},
	{Maybe::yes, "yes"},
	{Maybe::unknown, "unknown"},
}};

inline constexpr std::array<Name<Holder>, 5> holder_names{{
	{Holder::process, "process"},
	{Holder::unaccepted, "unaccepted"},
	{Holder::in_flight, "in_flight"},
	{Holder::io_uring, "io_uring"},
	{Holder::nobody, "nobody"},
}};

inline constexpr std::array<Name<ReportSource>, 2> source_names{{
	{ReportSource::log, "log"},
	{ReportSource::event, "event"},
}};

/* The text of a value; "?" if the table lacks it. */
template <class E, size_t N>
constexpr std::string_view name_of(const std::array<Name<E>, N> &table, E value)
{
	for (const auto &entry : table)
		if (entry.value == value)
			return entry.text;
	return "?";
}

/* The value with this text, if there is one. */
template <class E, size_t N>
constexpr std::optional<E> value_of(const std::array<Name<E>, N> &table,
				    std::string_view text)
{
	for (const auto &entry : table)
		if (entry.text == text)
			return entry.value;
	return std::nullopt;
}

inline std::string_view name(State s) { return name_of(state_names, s); }
inline std::string_view name(Maybe m) { return name_of(maybe_names, m); }
inline std::string_view name(Holder h) { return name_of(holder_names, h); }
inline std::string_view name(ReportSource s) { return name_of(source_names, s); }

} // namespace rxstall
