// SPDX-License-Identifier: GPL-2.0
#include "bench/report/records.h"

#include <algorithm>

namespace bench {

Records matching(const Records &records, const Json &wanted)
{
	Records found;

	std::copy_if(records.begin(), records.end(), std::back_inserter(found),
		     [&wanted](const Json &record) {
			     return std::all_of(
				     wanted.items().begin(), wanted.items().end(),
				     [&record](const auto &item) {
					     return record.contains(item.key()) &&
						    record[item.key()] ==
							    item.value();
				     });
		     });
	return found;
}

std::vector<Json> values_of(const Records &records, const std::string &key)
{
	std::vector<Json> values;

	for (const Json &record : records)
		if (std::find(values.begin(), values.end(), record.at(key)) ==
		    values.end())
			values.push_back(record.at(key));
	return values;
}

std::vector<std::string> settings_of(const Records &records)
{
	std::vector<std::string> settings;

	for (const char *name : {"stock", "0", "1", "2"})
		if (!matching(records, {{"setting", name}}).empty())
			settings.emplace_back(name);
	return settings;
}

std::string title_of(const std::string &setting)
{
	return setting == "stock" ? setting : "patched, " + setting;
}

} // namespace bench
