// SPDX-License-Identifier: GPL-2.0
#include "lib/pools.h"

#include <algorithm>
#include <fmt/format.h>

#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

Json to_json(const PoolView &pool)
{
	Json json;
	if (pool.id)
		json["id"] = *pool.id;
	if (!pool.address.empty())
		json["address"] = pool.address;
	json["netns"] = pool.netns;
	json["ifindex"] = pool.ifindex;
	json["device"] = pool.device;
	json["driver"] = pool.driver;
	json["napi_id"] = pool.napi_id;
	json["inflight"] = pool.inflight;
	if (pool.inflight_mem)
		json["inflight_mem"] = *pool.inflight_mem;
	json["detached"] = pool.detached;
	if (pool.stalled_s)
		json["stalled_s"] = *pool.stalled_s;
	json["trend"] = name(pool.trend);
	json["listed"] = pool.listed;
	json["holders_exact"] = pool.exact;
	json["pages_reached"] = pool.reached;
	json["holders"] = Json::array();
	for (const PoolHolder &holder : pool.holders) {
		Json entry;
		entry["process"] = holder.process;
		entry["pid"] = holder.pid;
		entry["sockets"] = holder.sockets;
		entry["pages"] = holder.pages;
		json["holders"].push_back(entry);
	}
	return json;
}

std::string id_text(const PoolView &pool)
{
	if (pool.id)
		return std::to_string(*pool.id);
	return pool.address.empty() ? "?" : "@" + pool.address;
}

std::string device_text(const PoolView &pool)
{
	if (!pool.device.empty())
		return pool.device;
	if (pool.ifindex)
		return fmt::format("index {}", pool.ifindex);
	return pool.listed ? "gone" : "?";
}

std::string memory_text(const PoolView &pool)
{
	/* below zero the driver's count is broken, and so is the product */
	if (!pool.inflight_mem || pool.inflight < 0)
		return "-";
	return human_bytes(*pool.inflight_mem);
}

std::string table_of(const std::vector<PoolView> &pools, const Style &style)
{
	Table table({{"POOL"}, {"NETNS"}, {"DEVICE"}, {"DRIVER"}, {"INFLIGHT", Align::right},
		     {"MEM", Align::right}, {"STALLED", Align::right}, {"TREND"}, {"NETLINK"},
		     {"HELD BY"}});
	for (const PoolView &pool : pools) {
		table.add({id_text(pool), pool.netns ? std::to_string(pool.netns) : "?",
			   device_text(pool),
			   pool.driver.empty() ? "?" : pool.driver, std::to_string(pool.inflight),
			   memory_text(pool),
			   pool.stalled_s ? human_span(*pool.stalled_s * 1000) : "-",
			   std::string(name(pool.trend)),
			   pool.listed ? "listed" : "invisible", holders_text(pool)},
			  pool.detached && pool.trend != Trend::freed);
	}
	return table.text(style);
}

} // namespace

int verb_pools(int argc, char **argv)
{
	CLI::App app{"Page pools with pages in flight whose driver has let go of them, and who may "
		     "hold the pages.", "rxstall pools"};
	Output output;
	std::string from, method;
	double listen = 2;
	bool all = false;

	add_output_options(app, output);
	add_from_option(app, from);
	add_method_option(app, method);
	app.add_flag("-a,--all", all, "also pools in use and pools that are gone again");
	app.add_option("--listen", listen, "seconds to listen for events of pools that netlink does "
		       "not list (default 2, 0: do not)")->check(CLI::Range(0.0, 3600.0));
	if (auto status = parse(app, argc, argv))
		return *status;

	/* all states: a live connection may hold pages of an old pool */
	auto snapshot = load_or_collect(from, {.states = all_states, .method = method, .pools = true,
					       .listen = listen});
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);

	std::vector<PoolView> pools = merge_pools(*snapshot);
	if (!all)
		std::erase_if(pools, [](const PoolView &pool) {
			return !pool.detached || pool.inflight == 0 || pool.trend == Trend::freed;
		});
	if (output.json) {
		Json array = Json::array();
		for (const PoolView &pool : pools)
			array.push_back(to_json(pool));
		return print(dump(array, output.pretty) + "\n");
	}
	if (pools.empty())
		return print("no stalled page pool\n");
	const bool guess = std::any_of(pools.begin(), pools.end(), [](const PoolView &pool) {
		return pool.detached && !pool.exact;
	});
	return print(table_of(pools, output.style()) +
		     (guess ? "holders not known: " + escape(holder_guess(*snapshot)) + "\n" : ""));
}

} // namespace rxstall
