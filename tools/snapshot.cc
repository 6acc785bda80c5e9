// SPDX-License-Identifier: GPL-2.0
#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/save.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

int verb_snapshot(int argc, char **argv)
{
	CLI::App app{"Save all facts this host gives, without any payload, for `--from FILE` on any "
		     "machine. The file is readable by you alone; '-' prints it.", "rxstall snapshot"};
	std::string file, method;
	double listen = 2;

	app.add_option("file", file, "where to save it")->required()->type_name("FILE");
	add_method_option(app, method);
	app.add_option("--listen", listen, "seconds to listen for pool events (default 2)")
		->check(CLI::Range(0.0, 3600.0));
	if (auto status = parse(app, argc, argv))
		return *status;

	CollectRequest request;
	request.states = all_states;
	request.method = method;
	request.host = true;
	request.pools = true;
	request.listen = listen;
	auto snapshot = collect(request);
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);

	const std::string text = dump(to_json(*snapshot), true) + "\n";
	if (file == "-")
		return print(text);
	auto saved = save_file(file, text, 0600);
	return saved ? static_cast<int>(exit_done) : fail(saved.error());
}

} // namespace rxstall
