// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace selftest {

namespace {

/* /proc/net belongs to the thread group's leader, thread-self to the caller. */
std::ifstream open_proc(const std::string &name)
{
	const std::string path = "/proc/thread-self/net/" + name;
	std::ifstream file(path);

	if (!file)
		throw std::runtime_error("cannot read " + path);
	return file;
}

/* The word that follows the one at @at, in the same line; empty after the last. */
std::string_view word_at(std::string_view text, std::size_t &at)
{
	const auto end = std::min(text.find_first_of(" \n", at), text.size());
	const auto word = text.substr(at, end - at);

	at = end + (end < text.size() && text[end] == ' ');
	return word;
}

} // namespace

Counters Counters::read()
{
	Counters counters;
	std::ostringstream text;

	text << open_proc("netstat").rdbuf() << open_proc("snmp").rdbuf();
	counters.text_ = text.str();
	return counters;
}

/* Pairs of lines: "Prefix: name name ...", "Prefix: value value ...". */
std::optional<std::int64_t> Counters::find(std::string_view name) const
{
	const std::string_view text = text_;

	for (std::size_t line = 0; line < text.size();) {
		const auto values = text.find('\n', line) + 1;
		const auto next = text.find('\n', values) + 1;
		auto at = line;
		auto value_at = values;
		const auto prefix = word_at(text, at);

		(void)word_at(text, value_at);
		if (values == 0 || next == 0)
			break;
		if (name.starts_with(prefix.substr(0, prefix.size() - 1)))
			while (at + 1 < values) {
				const auto key = word_at(text, at);
				const auto value = word_at(text, value_at);

				if (name.substr(prefix.size() - 1) == key)
					return std::stoll(std::string(value));
			}
		line = next;
	}
	return std::nullopt;
}

bool Counters::has(const std::string &name) const
{
	return find(name).has_value();
}

std::int64_t Counters::operator[](const std::string &name) const
{
	const auto value = find(name);

	if (!value)
		throw std::out_of_range("this kernel has no counter " + name);
	return *value;
}

Sockstat Sockstat::read()
{
	std::ifstream file = open_proc("sockstat");
	std::string line;

	while (std::getline(file, line)) {
		std::istringstream words(line);
		std::map<std::string, std::int64_t> values;
		std::string word;
		std::int64_t value = 0;

		words >> word;
		if (word != "TCP:")
			continue;
		while (words >> word >> value)
			values[word] = value;
		return {values.at("inuse"), values.at("orphan"),
			values.at("tw"), values.at("alloc"), values.at("mem")};
	}
	throw std::runtime_error("sockstat has no TCP line");
}

} // namespace selftest
