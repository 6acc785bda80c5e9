// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <fstream>
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

/* Pairs of lines: "Prefix: name name ...", "Prefix: value value ...". */
void add_pairs(std::ifstream file, std::map<std::string, std::int64_t> &values)
{
	std::string head;
	std::string body;

	while (std::getline(file, head) && std::getline(file, body)) {
		std::istringstream names(head);
		std::istringstream numbers(body);
		std::string prefix;
		std::string name;
		std::string skipped;
		std::int64_t value = 0;

		names >> prefix;
		numbers >> skipped;
		prefix.pop_back();
		while (names >> name && numbers >> value)
			values[prefix + name] = value;
	}
}

} // namespace

Counters Counters::read()
{
	Counters counters;

	add_pairs(open_proc("netstat"), counters.values_);
	add_pairs(open_proc("snmp"), counters.values_);
	return counters;
}

bool Counters::has(const std::string &name) const
{
	return values_.contains(name);
}

std::int64_t Counters::operator[](const std::string &name) const
{
	const auto it = values_.find(name);

	if (it == values_.end())
		throw std::out_of_range("this kernel has no counter " + name);
	return it->second;
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
