// SPDX-License-Identifier: GPL-2.0
#include "guard_journal.h"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "judge.h"
#include "save.h"
#include "text.h"

namespace rxstall {

namespace {

constexpr size_t most_notes = 100;

} // namespace

GuardJournal::GuardJournal(std::string state_file, std::string mode) : state_file_(std::move(state_file))
{
	state_.mode = std::move(mode);
	state_.pid = getpid();
	std::error_code ignored;
	std::filesystem::create_directory(std::filesystem::path(state_file_).parent_path(), ignored);
}

void GuardJournal::note(const std::string &text)
{
	if (said_.size() < most_notes && said_.insert(text).second)
		log_.say(Level::warning, text, {{"RXSTALL_EVENT", "missing"}});
}

void GuardJournal::tell(const std::string &what, const std::vector<Socket> &sockets) const
{
	for (const Group &entry : group(sockets, {GroupKey::process, GroupKey::unit, GroupKey::dport})) {
		const std::string oldest = entry.oldest_ms ? human_span(*entry.oldest_ms) : "?";
		log_.say(Level::notice,
			 fmt::format("{} {} of {} towards port {}: {} bytes, the oldest silent for {}", what,
				     plural(entry.sums.sockets, "socket"), entry.keys[0], entry.keys[2],
				     entry.sums.rmem, oldest),
			 {{"RXSTALL_EVENT", what}, {"RXSTALL_PROCESS", entry.keys[0]},
			  {"RXSTALL_UNIT", entry.keys[1]}, {"RXSTALL_DPORT", entry.keys[2]},
			  {"RXSTALL_SOCKETS", std::to_string(entry.sums.sockets)},
			  {"RXSTALL_BYTES", std::to_string(entry.sums.rmem)},
			  {"RXSTALL_OLDEST_MS", std::to_string(entry.oldest_ms.value_or(0))}});
	}
}

void GuardJournal::save()
{
	auto saved = save_file(state_file_, dump_guard_state(state_), 0644);
	if (!saved)
		note(saved.error().text + ": `rxstall metrics` cannot count what the guard does");
	notify_.say(fmt::format("STATUS={}: {} released, {} failed, {} set", state_.mode,
				plural(state_.released, "socket"), state_.failed,
				plural(state_.namespaces_set, "namespace")));
}

void GuardJournal::remove() const
{
	std::error_code ignored;
	std::filesystem::remove(state_file_, ignored);
}

} // namespace rxstall
