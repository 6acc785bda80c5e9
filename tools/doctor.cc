// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/text.h"
#include "lib/verdict.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

std::string report(const Snapshot &snapshot, const Style &style)
{
	std::string text = fmt::format("host {}, kernel {}, {}\n\n",
				       escape(snapshot.host), escape(snapshot.kernel),
				       plural(snapshot.namespaces.size(), "network namespace"));

	Table features({{"FEATURE"}, {"THERE"}, {"WHAT IT GIVES"}});
	for (const Feature &feature : snapshot.features)
		features.add({feature.name, std::string(name(feature.present)), feature.adds},
			     feature.present == Maybe::no);
	text += features.text(style) + "\n";

	Table nics({{"DEVICE"}, {"NETNS"}, {"DRIVER"}, {"VERSION"}, {"FIRMWARE"}});
	for (const Nic &nic : snapshot.nics)
		nics.add({nic.device, std::to_string(nic.netns), nic.driver, nic.version,
			  nic.firmware.empty() ? "-" : nic.firmware});
	if (!snapshot.nics.empty())
		text += nics.text(style) + "\n";

	for (const std::string &line : verdict(snapshot))
		text += line + "\n";
	return text;
}

Json report_json(const Snapshot &snapshot)
{
	Json json;
	json["host"] = snapshot.host;
	json["kernel"] = snapshot.kernel;
	json["features"] = Json::array();
	for (const Feature &feature : snapshot.features)
		json["features"].push_back(to_json(feature));
	json["nics"] = Json::array();
	for (const Nic &nic : snapshot.nics)
		json["nics"].push_back(to_json(nic));
	json["namespaces"] = snapshot.namespaces.size();
	json["verdict"] = verdict(snapshot);
	return Json::array({json});
}

} // namespace

int verb_doctor(int argc, char **argv)
{
	CLI::App app{"What this kernel and our privileges allow, what is missing and what that takes "
		     "away, and a verdict on the host in three lines.", "rxstall doctor"};
	Output output;
	std::string from, method;

	add_output_options(app, output);
	add_from_option(app, from);
	add_method_option(app, method);
	if (auto status = parse(app, argc, argv))
		return *status;

	/* listens, for the events come once a second */
	auto snapshot = load_or_collect(from, {.states = over_mask(), .method = method, .host = true,
					       .pools = true, .listen = 1.5});
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);
	return print(output.json ? dump(report_json(*snapshot), output.pretty) + "\n"
				 : report(*snapshot, output.style()));
}

} // namespace rxstall
