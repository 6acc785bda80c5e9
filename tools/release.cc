// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <syslog.h>

#include "lib/collect.h"
#include "lib/decide.h"
#include "lib/facts_json.h"
#include "lib/free.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

constexpr std::array<Name<Action>, 4> action_names{{
	{Action::leave, "leave"},
	{Action::receive, "receive"},
	{Action::discard, "discard"},
	{Action::reset, "reset"},
}};

struct Outcome {
	Socket socket;
	Freed freed;
};

Freed plan(const Socket &socket, const Permit &permit)
{
	const Decision decision = decide(socket, permit, getpid());
	const uint32_t after = decision.action == Action::leave ? socket.rmem : 0;
	return {decision.action, socket.rmem, after, false, decision.text};
}

void audit(const Outcome &outcome)
{
	const Socket &socket = outcome.socket;
	syslog(LOG_DAEMON | LOG_NOTICE, "%s",
	       escape(fmt::format("{} {} bytes of {} by {}: {} to {}, netns {}, inode {}",
				  outcome.freed.failed ? "failed to release" : "released",
				  outcome.freed.before - outcome.freed.after, owner_text(socket),
				  name_of(action_names, outcome.freed.action),
				  endpoint_text(socket.local, socket.family),
				  endpoint_text(socket.peer, socket.family), socket.netns,
				  socket.inode)).c_str());
}

Json to_json(const Outcome &outcome, bool applied)
{
	Json json = rxstall::to_json(outcome.socket);
	json["action"] = name_of(action_names, outcome.freed.action);
	json["applied"] = applied && outcome.freed.action != Action::leave;
	json["rmem_after"] = outcome.freed.after;
	json["failed"] = outcome.freed.failed;
	json["text"] = outcome.freed.text;
	return json;
}

std::string report(const std::vector<Outcome> &outcomes, bool applied, const Style &style)
{
	Table table({{"ACTION"}, {"RMEM", Align::right}, {"AFTER", Align::right}, {"STATE"},
		     {"PEER"}, {"PROCESS"}, {"NOTE"}});
	uint64_t bytes = 0, sockets = 0;
	for (const Outcome &outcome : outcomes) {
		const Freed &freed = outcome.freed;
		table.add({std::string(name_of(action_names, freed.action)),
			   std::to_string(freed.before), std::to_string(freed.after),
			   std::string(name(outcome.socket.state)),
			   endpoint_text(outcome.socket.peer, outcome.socket.family),
			   owner_text(outcome.socket), freed.text}, freed.failed);
		if (freed.action != Action::leave && !freed.failed) {
			sockets++;
			bytes += freed.before - freed.after;
		}
	}

	std::string text = outcomes.empty() ? "" : table.text(style);
	if (!style.header)
		return text;
	return text + fmt::format("{} of {} {}, {} bytes{}\n", sockets, plural(outcomes.size(), "socket"),
				  applied ? "released" : "would be released", bytes,
				  applied || !sockets ? "" : " (--apply does it)");
}

} // namespace

int verb_release(int argc, char **argv)
{
	CLI::App app{"Free the receive memory of sockets whose connection is over. Without --apply, "
		     "only show what would be done.", "rxstall release"};
	Output output;
	Selection selection;
	Permit permit;
	std::string method;
	bool apply = false;

	add_output_options(app, output);
	add_selection_options(app, selection);
	add_method_option(app, method);
	app.add_flag("--apply", apply, "do it");
	app.add_flag("--discard-unread", permit.discard_unread,
		     "also drop payload that was never read: the application loses it");
	app.add_flag("--reset", permit.reset,
		     "also free out-of-order data and error queues of closed sockets: the "
		     "application gets EPIPE or ENOTCONN instead of 0");
	if (auto status = parse(app, argc, argv))
		return *status;

	const Filter filter = selection.filter();
	CollectRequest request;
	request.states = filter.states ? filter.states : over_mask();
	request.method = method;
	auto snapshot = collect(request);
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);

	std::vector<Outcome> outcomes;
	bool failed = false, changed = false;
	for (Socket &socket : snapshot->sockets) {
		if (!matches(filter, socket))
			continue;
		Freed freed = plan(socket, permit);
		if (apply && freed.action != Action::leave) {
			freed = free_socket(socket, permit);
			changed |= freed.after < freed.before;
			failed |= freed.failed;
		}
		outcomes.push_back({std::move(socket), std::move(freed)});
		if (apply && (outcomes.back().freed.failed || outcomes.back().freed.action != Action::leave))
			audit(outcomes.back());
	}
	if (changed && !kick_deferred())
		fmt::print(stderr, "rxstall: loopback is down here, so freed segments may wait on an "
				   "idle CPU's list: `ip link set lo up`, or any traffic, ends that\n");

	int status = exit_done;
	if (output.json) {
		Json array = Json::array();
		for (const Outcome &outcome : outcomes)
			array.push_back(to_json(outcome, apply));
		status = print(dump(array, output.pretty) + "\n");
	} else {
		status = print(report(outcomes, apply, output.style()));
	}
	return failed ? static_cast<int>(exit_failure) : status;
}

} // namespace rxstall
