// SPDX-License-Identifier: GPL-2.0
#include "render.h"

#include <fmt/format.h>

#include "text.h"

namespace rxstall {

namespace {

std::string age_text(const std::optional<uint64_t> &age_ms)
{
	return age_ms ? human_span(*age_ms) : "-";
}

std::string netns_text(const Snapshot &snapshot, uint32_t inode)
{
	for (const Netns &netns : snapshot.namespaces)
		if (netns.inode == inode && !netns.name.empty())
			return netns.name;
	return std::to_string(inode);
}

/* "java[812] fd 31", the others counted. */
std::string holder_text(const Socket &socket)
{
	std::string text = owner_text(socket);
	if (!socket.owners.empty() && socket.owners.front().fd >= 0)
		text += fmt::format(" fd {}", socket.owners.front().fd);
	if (socket.owners.size() > 1)
		text += fmt::format(" +{}", socket.owners.size() - 1);
	return text;
}

std::string all_owners(const Socket &socket)
{
	std::string text;
	for (const Owner &owner : socket.owners) {
		if (!text.empty())
			text += ' ';
		text += fmt::format("{}[{}]", owner.comm, owner.pid);
		if (owner.tid && owner.tid != owner.pid)
			text += fmt::format("/{}", owner.tid);
		if (owner.fd >= 0)
			text += fmt::format(":{}", owner.fd);
		if (!owner.unit.empty())
			text += "@" + owner.unit;
	}
	return text;
}

/* Pages of page pools that the socket keeps, as far as is known. */
std::string pages_text(const Socket &socket)
{
	uint64_t pages = 0;
	for (const PoolShare &share : socket.shares)
		pages += share.pages;
	if (socket.pool_pages == Maybe::no)
		return "0";
	if (!pages)
		return socket.pool_pages == Maybe::yes ? "some" : "-";
	return std::to_string(pages) + (socket.pool_unclear ? "+" : "");
}

} // namespace

std::string sockets_table(const Snapshot &snapshot, bool extended, const Style &style)
{
	std::vector<Column> columns = {{"STATE"}, {"CLASS"}, {"RMEM", Align::right},
				       {"UNREAD", Align::right}, {"PAGES", Align::right},
				       {"AGE", Align::right}, {"LOCAL"}, {"PEER"}, {"NETNS"}};
	if (extended)
		for (const Column &column : {Column{"INODE", Align::right}, Column{"CPU", Align::right},
					     Column{"OWNERS"}})
			columns.push_back(column);
	else
		columns.push_back({"PROCESS"});

	Table table(columns);
	for (const Socket &socket : snapshot.sockets) {
		std::vector<std::string> cells = {
			std::string(name(socket.state)), std::string(name(classify(socket))),
			std::to_string(socket.rmem), std::to_string(socket.unread),
			pages_text(socket), age_text(socket.age_ms), endpoint_text(socket.local, socket.family),
			endpoint_text(socket.peer, socket.family), netns_text(snapshot, socket.netns)};
		if (extended) {
			cells.push_back(std::to_string(socket.inode));
			cells.push_back(std::to_string(socket.cpu));
			cells.push_back(socket.owners.empty() || !socket.owners.front().pid
						? owner_text(socket) : all_owners(socket));
		} else {
			cells.push_back(holder_text(socket));
		}
		table.add(std::move(cells), classify(socket) == Class::payload);
	}

	std::string text = snapshot.sockets.empty() ? "" : table.text(style);
	return text + (style.header ? sums_text(snapshot) : "");
}

std::string sums_text(const Snapshot &snapshot)
{
	const Sums sums = sum(snapshot.sockets);
	std::string text = fmt::format("{} with {} of receive memory, {} unread",
				       plural(sums.sockets, "socket"), human_bytes(sums.rmem),
				       human_bytes(sums.unread));
	if (sums.pool)
		text += fmt::format(", {} in page-pool memory ({})", sums.pool, plural(sums.pages, "page"));
	text += '\n';

	struct Unseen {
		uint64_t count;
		const char *one;
		const char *what;
	};
	const Hidden &hidden = snapshot.hidden;
	for (const Unseen &unseen : {
		Unseen{ownerless(snapshot.sockstat), "closed TCP socket",
		       "without a visible owner (sockstat; new sockets count too)"},
		Unseen{hidden.refused, "process", "refused to be looked at"},
		Unseen{hidden.namespaces, "network namespace", "could not be entered"},
		Unseen{hidden.mptcp, "MPTCP socket", "left alone"}})
		if (unseen.count)
			text += plural(unseen.count, unseen.one) + " " + unseen.what + "\n";
	for (const HiddenHolder &holder : hidden.holders) {
		const bool ring = holder.owner.holder == Holder::io_uring;
		text += fmt::format("{} {}: {}[{}] fd {}\n", plural(holder.count, ring ? "socket" : "descriptor"),
				    ring ? "registered with io_uring" : "in flight on a unix socket",
				    escape(holder.owner.comm), holder.owner.pid, holder.owner.fd);
	}
	return text;
}

std::string groups_table(const std::vector<Socket> &sockets, const std::vector<GroupKey> &keys,
			 const Style &style)
{
	std::vector<Column> columns = {{"SOCKETS", Align::right}, {"RMEM", Align::right},
				       {"UNREAD", Align::right}, {"OLDEST", Align::right}};
	for (GroupKey key : keys) {
		std::string title(name_of(group_names, key));
		for (char &c : title)
			c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
		columns.push_back({title});
	}

	Table table(columns);
	for (const Group &entry : group(sockets, keys)) {
		std::vector<std::string> cells = {std::to_string(entry.sums.sockets),
						  std::to_string(entry.sums.rmem),
						  std::to_string(entry.sums.unread),
						  age_text(entry.oldest_ms)};
		cells.insert(cells.end(), entry.keys.begin(), entry.keys.end());
		table.add(std::move(cells));
	}
	return table.text(style);
}

Json groups_json(const std::vector<Socket> &sockets, const std::vector<GroupKey> &keys)
{
	Json array = Json::array();
	for (const Group &entry : group(sockets, keys)) {
		Json json;
		for (size_t i = 0; i < keys.size(); i++)
			json[std::string(name_of(group_names, keys[i]))] = entry.keys[i];
		json["sockets"] = entry.sums.sockets;
		json["rmem"] = entry.sums.rmem;
		json["unread"] = entry.sums.unread;
		if (entry.oldest_ms)
			json["oldest_ms"] = *entry.oldest_ms;
		array.push_back(json);
	}
	return array;
}

} // namespace rxstall
