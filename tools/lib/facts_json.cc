// SPDX-License-Identifier: GPL-2.0
#include "facts_json.h"

#include "judge.h"

namespace rxstall {

namespace {

template <class T>
void set_if(Json &json, const char *key, const std::optional<T> &value)
{
	if (value)
		json[key] = *value;
}

template <class T>
Json list(const std::vector<T> &items)
{
	Json array = Json::array();
	for (const T &item : items)
		array.push_back(to_json(item));
	return array;
}

} // namespace

Json to_json(const Owner &owner)
{
	Json json;
	json["holder"] = name(owner.holder);
	json["pid"] = owner.pid;
	json["tid"] = owner.tid;
	json["fd"] = owner.fd;
	json["comm"] = owner.comm;
	json["unit"] = owner.unit;
	return json;
}

Json to_json(const PoolShare &share)
{
	Json json;
	json["key"] = share.pool;
	json["pages"] = share.pages;
	return json;
}

Json to_json(const HiddenHolder &holder)
{
	Json json = to_json(holder.owner);
	json["count"] = holder.count;
	return json;
}

Json to_json(const Socket &socket)
{
	Json json;
	json["state"] = name(socket.state);
	json["class"] = name(classify(socket));
	json["family"] = socket.family == Family::ipv4 ? 4 : 6;
	json["src"] = socket.local.address;
	json["sport"] = socket.local.port;
	json["dst"] = socket.peer.address;
	json["dport"] = socket.peer.port;
	json["netns"] = socket.netns;
	json["inode"] = socket.inode;
	json["cookie"] = socket.cookie;
	json["rmem"] = socket.rmem;
	json["unread"] = socket.unread;
	json["out_of_order"] = name(socket.out_of_order);
	json["error_queue"] = name(socket.error_queue);
	json["pool_pages"] = name(socket.pool_pages);
	json["pool_unclear"] = socket.pool_unclear;
	json["pools"] = list(socket.shares);
	set_if(json, "age_ms", socket.age_ms);
	set_if(json, "error", socket.error);
	json["cpu"] = socket.cpu;
	json["ulp"] = socket.ulp;
	json["owners"] = list(socket.owners);
	return json;
}

Json to_json(const Pool &pool)
{
	Json json;
	set_if(json, "id", pool.id);
	json["netns"] = pool.netns;
	json["ifindex"] = pool.ifindex;
	json["device"] = pool.device;
	json["driver"] = pool.driver;
	json["napi_id"] = pool.napi_id;
	json["inflight"] = pool.inflight;
	set_if(json, "inflight_mem", pool.inflight_mem);
	set_if(json, "detached_at", pool.detached_at);
	json["listed"] = pool.listed;
	json["key"] = pool.key;
	set_if(json, "hold", pool.hold);
	json["reached"] = pool.reached;
	return json;
}

Json to_json(const PoolReport &report)
{
	Json json;
	json["source"] = name(report.source);
	json["at"] = report.at;
	set_if(json, "id", report.id);
	json["address"] = report.address;
	json["inflight"] = report.inflight;
	set_if(json, "stalled_s", report.stalled_s);
	set_if(json, "hold", report.hold);
	json["ifindex"] = report.ifindex;
	return json;
}

Json to_json(const Netns &netns)
{
	Json json;
	json["netns"] = netns.inode;
	json["name"] = netns.name;
	json["pid"] = netns.pid;
	json["comm"] = netns.comm;
	json["entered"] = netns.entered;
	set_if(json, "tcp_purge_receive_queue", netns.purge);
	return json;
}

Json to_json(const Nic &nic)
{
	Json json;
	json["netns"] = nic.netns;
	json["device"] = nic.device;
	json["driver"] = nic.driver;
	json["version"] = nic.version;
	json["firmware"] = nic.firmware;
	return json;
}

Json to_json(const Feature &feature)
{
	Json json;
	json["name"] = feature.name;
	json["present"] = name(feature.present);
	json["adds"] = feature.adds;
	return json;
}

Json to_json(const Snapshot &snapshot)
{
	Json json;
	json["version"] = snapshot_version;
	json["host"] = snapshot.host;
	json["kernel"] = snapshot.kernel;
	json["taken"] = snapshot.taken;
	json["boottime"] = snapshot.boottime;
	json["method"] = snapshot.method;
	json["listened"] = snapshot.listened;
	json["sockstat"] = {
		{"alloc", snapshot.sockstat.alloc},
		{"mem_pages", snapshot.sockstat.mem_pages},
		{"inuse", snapshot.sockstat.inuse},
		{"closed_seen", snapshot.sockstat.closed_seen},
	};
	json["hidden"] = {
		{"in_flight", snapshot.hidden.in_flight},
		{"io_uring", snapshot.hidden.io_uring},
		{"refused", snapshot.hidden.refused},
		{"namespaces", snapshot.hidden.namespaces},
		{"mptcp", snapshot.hidden.mptcp},
		{"holders", list(snapshot.hidden.holders)},
	};
	json["namespaces"] = list(snapshot.namespaces);
	json["sockets"] = list(snapshot.sockets);
	json["pools"] = list(snapshot.pools);
	json["reports"] = list(snapshot.reports);
	json["nics"] = list(snapshot.nics);
	json["features"] = list(snapshot.features);
	json["notes"] = snapshot.notes;
	return json;
}

std::string dump(const Json &json, bool pretty)
{
	return json.dump(pretty ? 2 : -1, ' ', true, Json::error_handler_t::replace);
}

} // namespace rxstall
