// SPDX-License-Identifier: GPL-2.0
#include "lib/destroy.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <syslog.h>

#include "lib/facts_json.h"
#include "lib/free.h"
#include "lib/netns.h"
#include "lib/sockdiag.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

constexpr uint32_t bit(State state) { return 1u << static_cast<unsigned>(state); }

/* States in which a connection waits for a peer, for ever if that is gone. */
constexpr uint32_t open_states = bit(State::established) | bit(State::close_wait) |
				 bit(State::fin_wait1) | bit(State::fin_wait2) |
				 bit(State::last_ack) | bit(State::closing);

struct Outcome {
	Socket socket;
	std::string netns_path;
	bool failed = false;
	uint32_t after = 0;	/* bytes of receive memory that stay */
	std::string text;
};

/* Like matches(), but an empty receive queue is no reason to be left out. */
bool selected(const Filter &filter, Socket socket)
{
	socket.rmem = std::max(socket.rmem, 1u);
	return matches(filter, socket);
}

std::vector<Outcome> find(const Filter &filter)
{
	std::vector<Socket> sockets;
	std::vector<std::string> paths;
	for (const NetnsPath &entry : list_netns(NetnsSearch::processes)) {
		auto there = InNetns::enter(entry.path);
		if (!there)
			continue;
		auto dumped = dump_sockets(filter.states, Detail::memory, [&](const DiagSocket &found) {
			/* without an inode nobody owns it: it is on its way out, or not accepted */
			if (!found.socket.inode)
				return;
			sockets.push_back(found.socket);
			sockets.back().netns = entry.netns.inode;
			paths.push_back(entry.path);
		});
		if (!dumped)
			fmt::print(stderr, "rxstall: {}\n", dumped.error().text);
	}
	add_owners(sockets);

	std::vector<Outcome> outcomes;
	for (size_t i = 0; i < sockets.size(); i++)
		if (selected(filter, sockets[i]))
			outcomes.push_back({std::move(sockets[i]), std::move(paths[i]), false, 0, "would be destroyed"});
	return outcomes;
}

void destroy(Outcome &outcome)
{
	Socket &socket = outcome.socket;
	outcome.after = socket.rmem;
	auto there = InNetns::enter(outcome.netns_path);
	auto done = there ? destroy_socket(socket) : Result<void>(tl::unexpected(there.error()));
	if (!done) {
		outcome.failed = done.error().code != ENOENT;
		outcome.text = done.error().text;
		return;
	}
	outcome.text = "destroyed";
	if (socket.rmem == 0)
		return;
	/* it is in CLOSE now and out of everybody's sight, but its queue is still there */
	Permit permit;
	permit.discard_unread = true;
	permit.reset = socket.unread == 0;
	const Freed freed = free_socket(socket, permit);
	outcome.after = freed.after;
	outcome.failed = freed.failed;
	if (freed.after)
		outcome.text += ": " + freed.text;
}

void audit(const Outcome &outcome)
{
	const Socket &socket = outcome.socket;
	syslog(LOG_DAEMON | LOG_NOTICE, "%s",
	       escape(fmt::format("{} the connection of {}: {} to {}, netns {}, {} unread bytes dropped",
				  outcome.text, owner_text(socket), endpoint_text(socket.local, socket.family),
				  endpoint_text(socket.peer, socket.family), socket.netns, socket.unread)).c_str());
}

int show(const std::vector<Outcome> &outcomes, bool applied, const Output &output)
{
	if (output.json) {
		Json array = Json::array();
		for (const Outcome &outcome : outcomes) {
			Json json = to_json(outcome.socket);
			json["applied"] = applied && !outcome.failed;
			json["rmem_after"] = applied ? outcome.after : outcome.socket.rmem;
			json["failed"] = outcome.failed;
			json["text"] = outcome.text;
			array.push_back(std::move(json));
		}
		return print(dump(array, output.pretty) + "\n");
	}
	Table table({{"STATE"}, {"SILENT", Align::right}, {"RMEM", Align::right}, {"UNREAD", Align::right},
		     {"PEER"}, {"PROCESS"}, {"NOTE"}});
	for (const Outcome &outcome : outcomes) {
		const Socket &socket = outcome.socket;
		table.add({std::string(name(socket.state)), socket.age_ms ? human_span(*socket.age_ms) : "?",
			   std::to_string(socket.rmem), std::to_string(socket.unread),
			   endpoint_text(socket.peer, socket.family), owner_text(socket), outcome.text},
			  outcome.failed);
	}
	return print((outcomes.empty() ? "" : table.text(output.style())) +
		     fmt::format("{}{}\n", plural(outcomes.size(), "connection"),
				 applied || outcomes.empty() ? "" : " (--apply destroys them)"));
}

} // namespace

int verb_destroy(int argc, char **argv)
{
	CLI::App app{"End connections whose peer has been silent for --min-age: half-open ones, whose FIN or RST "
		     "never came. Silence alone does not prove that: name port or process, too. Their owner gets "
		     "ECONNABORTED, and what was unread is dropped. Without --apply, only show them.",
		     "rxstall destroy"};
	Output output;
	Selection selection;
	bool apply = false;

	add_output_options(app, output);
	add_selection_options(app, selection);
	app.add_flag("--apply", apply, "do it");
	if (auto status = parse(app, argc, argv))
		return *status;
	if (selection.min_age.empty())
		throw Usage{"--min-age is missing: how long a silence is meant?"};

	Filter filter = selection.filter();
	filter.states = filter.states ? filter.states & open_states : open_states;
	std::vector<Outcome> outcomes = find(filter);
	bool failed = false;
	for (Outcome &outcome : outcomes) {
		if (!apply)
			continue;
		/* as in release: neither ourselves nor PID 1 */
		const auto &owners = outcome.socket.owners;
		if (std::any_of(owners.begin(), owners.end(), [](const Owner &owner) { return owner.pid == 1; })) {
			outcome.text = "PID 1 is left alone";
			continue;
		}
		destroy(outcome);
		failed |= outcome.failed;
		audit(outcome);
	}
	if (apply && !outcomes.empty())
		kick_deferred();
	const int status = show(outcomes, apply, output);
	return failed ? static_cast<int>(exit_failure) : status;
}

} // namespace rxstall
