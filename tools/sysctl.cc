// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <fmt/format.h>
#include <fnmatch.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/facts_json.h"
#include "lib/knob.h"
#include "lib/netns.h"
#include "lib/proc.h"
#include "lib/stop.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

constexpr const char *missing =
	"this kernel has no net.ipv4.tcp_purge_receive_queue (it comes with a patch); "
	"`rxstall release --apply` frees FIN-only queues on any kernel";

/* What was there before, to be put back through the same open file. */
struct Before {
	Fd file;
	int value;
};

/*
 * Namespaces that a shell pattern fits: by their own name, or by the name or the
 * unit of a process that lives there.
 */
std::set<uint32_t> matching(const std::string &pattern, const std::vector<NetnsPath> &namespaces)
{
	auto fits = [&](const std::string &text) {
		return !text.empty() && fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
	};
	std::set<uint32_t> found;
	for (const NetnsPath &entry : namespaces)
		if (fits(entry.netns.name))
			found.insert(entry.netns.inode);
	for (int pid : list_processes()) {
		const ProcessName name = name_process(pid);
		struct stat status{};
		const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
		if ((fits(name.comm) || fits(name.unit)) && stat(path.c_str(), &status) == 0)
			found.insert(static_cast<uint32_t>(status.st_ino));
	}
	return found;
}

/* Which namespaces are meant: all, one, those that a pattern fits, or else our own. */
struct Choice {
	bool every = false;
	std::optional<uint32_t> only;
	std::string pattern;

	std::vector<NetnsPath> namespaces() const
	{
		std::vector<NetnsPath> list = list_netns(NetnsSearch::threads);
		if (only) {
			std::erase_if(list, [&](const NetnsPath &e) { return e.netns.inode != *only; });
		} else if (!pattern.empty()) {
			const std::set<uint32_t> fitting = matching(pattern, list);
			std::erase_if(list, [&](const NetnsPath &e) { return !fitting.contains(e.netns.inode); });
		} else if (!every) {
			list.resize(1);	/* ours comes first */
		}
		return list;
	}
};

class Setter {
public:
	Setter(int value, Choice choice) : value_(value), choice_(std::move(choice)) {}

	/* Sets every wanted namespace that has not been seen yet; how many failed. */
	unsigned set_new()
	{
		unsigned failed = 0;
		for (const NetnsPath &entry : choice_.namespaces()) {
			found_ = true;
			if (known(entry.netns.inode))
				continue;
			auto done = set(entry);
			if (done)
				continue;
			failed++;
			/* remember it, or --follow would complain every second */
			before_.try_emplace(entry.netns.inode, Before{Fd(), value_});
			fmt::print(stderr, "rxstall: netns {}: {}\n", entry.netns.inode, done.error().text);
		}
		return failed;
	}

	bool found() const { return found_; }
	unsigned changed() const { return changed_; }

	/* Namespaces that have gone meanwhile need nothing. */
	void restore()
	{
		for (auto &[inode, before] : before_)
			if (before.file && before.value != value_)
				(void)write_purge(before.file.get(), before.value);
	}

private:
	/* Inode numbers come again, but the file of a namespace that has gone cannot be read. */
	bool known(uint32_t inode)
	{
		const auto found = before_.find(inode);
		if (found == before_.end())
			return false;
		char byte = 0;
		if (!found->second.file || pread(found->second.file.get(), &byte, 1, 0) >= 0)
			return true;
		before_.erase(found);
		return false;
	}

	Result<void> set(const NetnsPath &entry)
	{
		auto there = InNetns::enter(entry.path);
		if (!there)
			return tl::unexpected(there.error());
		const int old = read_purge().value_or(0);
		auto file = open_purge();
		if (!file)
			return tl::unexpected(file.error());
		if (old != value_) {
			if (auto written = write_purge(file->get(), value_); !written)
				return written;
			changed_++;
		}
		before_.try_emplace(entry.netns.inode, Before{std::move(*file), old});
		return {};
	}

	const int value_;
	const Choice choice_;
	std::map<uint32_t, Before> before_;
	unsigned changed_ = 0;
	bool found_ = false;
};

std::vector<Netns> read_all()
{
	std::vector<Netns> namespaces;
	for (NetnsPath &entry : list_netns(NetnsSearch::threads)) {
		auto there = InNetns::enter(entry.path);
		entry.netns.entered = there.has_value();
		if (there)
			entry.netns.purge = read_purge();
		namespaces.push_back(std::move(entry.netns));
	}
	return namespaces;
}

int show(const std::vector<Netns> &namespaces, const Output &output)
{
	if (output.json) {
		Json array = Json::array();
		for (const Netns &netns : namespaces)
			array.push_back(to_json(netns));
		return print(dump(array, output.pretty) + "\n");
	}

	Table table({{"NETNS"}, {"NAME"}, {"VALUE"}, {"WHO"}});
	bool knob = false;
	for (const Netns &netns : namespaces) {
		knob |= netns.purge.has_value();
		table.add({std::to_string(netns.inode), netns.name.empty() ? "-" : netns.name,
			   netns.purge ? std::to_string(*netns.purge)
				       : netns.entered ? "no knob" : "not entered",
			   netns.pid ? fmt::format("{}[{}]", netns.comm, netns.pid) : "-"});
	}
	if (!knob)
		fmt::print(stderr, "rxstall: {}\n", missing);
	return print(table.text(output.style()));
}

} // namespace

int verb_sysctl(int argc, char **argv)
{
	CLI::App app{"Show net.ipv4.tcp_purge_receive_queue in every network namespace, or set it: "
		     "0 off, 1 flush (unread data is dropped), 2 lossless (recommended).",
		     "rxstall sysctl"};
	Output output;
	std::string from, netns;
	std::optional<int> value;
	Choice choice;
	bool follow = false, restore = false;

	add_output_options(app, output);
	add_from_option(app, from);
	app.add_option("value", value, "set this value: 0, 1 or 2")->check(CLI::Range(0, 2));
	app.add_option("-N,--net", netns, "set it in this namespace instead of our own (name or number)")
		->type_name("NETNS");
	app.add_flag("-a,--all", choice.every, "set it in all namespaces");
	app.add_option("--match", choice.pattern, "set it in those whose name, or a process or unit in "
		       "them, fits this shell pattern")->type_name("PATTERN");
	app.add_flag("--follow", follow, "stay, and set it in namespaces as they are created");
	app.add_flag("--restore", restore, "with --follow: put the old values back at the end");
	if (auto status = parse(app, argc, argv))
		return *status;

	const bool several = choice.every || !choice.pattern.empty();
	if (!value && (several || follow || restore || !netns.empty()))
		throw Usage{"a value to set is missing: 0, 1 or 2"};
	if (value && !from.empty())
		throw Usage{"a saved snapshot cannot be changed"};
	if (choice.every + !choice.pattern.empty() + !netns.empty() > 1)
		throw Usage{"-N, --all and --match exclude each other"};
	if ((follow && !several) || (restore && !follow))
		throw Usage{follow ? "--follow goes with --all or --match" : "--restore goes with --follow"};

	if (!from.empty()) {
		auto snapshot = load_snapshot(from);
		return snapshot ? show(snapshot->namespaces, output) : fail(snapshot.error());
	}
	if (!value)
		return show(read_all(), output);
	if (!read_purge())
		return fail({ENOENT, missing});

	if (!netns.empty())
		choice.only = netns_number(netns);
	Stop stop;
	Setter setter(*value, choice);
	unsigned failed = setter.set_new();
	if (!setter.found() && !follow)
		return fail({ENOENT, "no such network namespace, or no process lives in it"});
	while (follow && !stop.wait(1000))
		failed += setter.set_new();
	if (restore)
		setter.restore();
	const int status = print(fmt::format("tcp_purge_receive_queue = {}: {} changed, {} failed{}\n", *value,
					     setter.changed(), failed, restore ? ", old values restored" : ""));
	return failed ? static_cast<int>(exit_failure) : status;
}

} // namespace rxstall
