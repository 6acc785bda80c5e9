// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/text.h"
#include "options.h"
#include "lib/render.h"
#include "verbs.h"

namespace rxstall {

namespace {

std::vector<GroupKey> group_keys(const std::vector<std::string> &words)
{
	std::vector<GroupKey> keys;
	for (const std::string &word : words) {
		auto key = value_of(group_names, word);
		if (!key)
			throw Usage{"--group '" + word + "': process, unit, netns, state, class, "
				    "peer, dst, dport and sport can be grouped"};
		keys.push_back(*key);
	}
	return keys;
}

} // namespace

int verb_sockets(int argc, char **argv)
{
	CLI::App app{"Sockets whose connection is over and that still hold receive memory, in "
		     "every network namespace.", "rxstall sockets"};
	Output output;
	Selection selection;
	std::string from, method;
	std::vector<std::string> group_words;
	bool extended = false;

	add_output_options(app, output);
	add_selection_options(app, selection);
	add_from_option(app, from);
	add_method_option(app, method);
	app.add_flag("-e,--extended", extended, "also inode, CPU, unit and all owners");
	app.add_option("--group", group_words, "one line for all sockets alike in these: process, "
		       "unit, netns, state, class, peer, dst, dport, sport")
		->delimiter(',')->allow_extra_args(false)->type_name("KEY,...");
	if (auto status = parse(app, argc, argv))
		return *status;

	const Filter filter = selection.filter();
	const std::vector<GroupKey> keys = group_keys(group_words);
	auto snapshot = load_or_collect(from, {.states = filter.states ? filter.states : over_mask(),
					       .method = method});
	if (!snapshot)
		return fail(snapshot.error());

	std::erase_if(snapshot->sockets,
		      [&](const Socket &socket) { return !matches(filter, socket); });
	print_notes(*snapshot);
	if (!keys.empty())
		return print(output.json ? dump(groups_json(snapshot->sockets, keys), output.pretty) + "\n"
					 : groups_table(snapshot->sockets, keys, output.style()));
	if (output.json) {
		Json array = Json::array();
		for (const Socket &socket : snapshot->sockets)
			array.push_back(to_json(socket));
		return print(dump(array, output.pretty) + "\n");
	}
	return print(sockets_table(*snapshot, extended, output.style()));
}

} // namespace rxstall
