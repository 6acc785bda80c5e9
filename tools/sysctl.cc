// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <fmt/format.h>
#include <map>

#include "lib/facts_json.h"
#include "lib/knob.h"
#include "lib/netns.h"
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

class Setter {
public:
	Setter(int value, bool every, std::optional<uint32_t> only)
		: value_(value), every_(every), only_(only)
	{
	}

	/* Sets every wanted namespace that has not been seen yet; how many failed. */
	unsigned set_new()
	{
		unsigned failed = 0;
		bool own = true;	/* list_netns() names ours first */
		for (const NetnsPath &entry : list_netns(NetnsSearch::threads)) {
			const bool wanted = every_ || (only_ ? entry.netns.inode == *only_ : own);
			own = false;
			if (!wanted || before_.contains(entry.netns.inode))
				continue;
			found_ = true;
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
	const bool every_;
	const std::optional<uint32_t> only_;
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
	bool every = false, follow = false, restore = false;

	add_output_options(app, output);
	add_from_option(app, from);
	app.add_option("value", value, "set this value: 0, 1 or 2")->check(CLI::Range(0, 2));
	app.add_option("-N,--net", netns, "set it in this namespace instead of our own (name or number)")
		->type_name("NETNS");
	app.add_flag("-a,--all", every, "set it in all namespaces");
	app.add_flag("--follow", follow, "stay, and set it in namespaces as they are created");
	app.add_flag("--restore", restore, "with --follow: put the old values back at the end");
	if (auto status = parse(app, argc, argv))
		return *status;

	if (!value && (every || follow || restore || !netns.empty()))
		throw Usage{"a value to set is missing: 0, 1 or 2"};
	if (value && !from.empty())
		throw Usage{"a saved snapshot cannot be changed"};
	if (every && !netns.empty())
		throw Usage{"-N and --all exclude each other"};
	if ((follow && !every) || (restore && !follow))
		throw Usage{follow ? "--follow goes with --all" : "--restore goes with --follow"};

	if (!from.empty()) {
		auto snapshot = load_snapshot(from);
		return snapshot ? show(snapshot->namespaces, output) : fail(snapshot.error());
	}
	if (!value)
		return show(read_all(), output);
	if (!read_purge())
		return fail({ENOENT, missing});

	std::optional<uint32_t> only;
	if (!netns.empty())
		only = netns_number(netns);
	Stop stop;
	Setter setter(*value, every, only);
	unsigned failed = setter.set_new();
	if (!setter.found())
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
