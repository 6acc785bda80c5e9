// SPDX-License-Identifier: GPL-2.0
#include <cmath>
#include <limits>

#include "facts_json.h"
#include "names.h"

namespace rxstall {

namespace {

/* Longest string a snapshot may hold; comm has 15 bytes, units a few hundred. */
constexpr size_t longest_string = 4096;

/* Thrown inside this file only; parse_snapshot() makes an Error of it. */
struct Wrong {
	std::string text;
};

/* A JSON object and its path, whose fields are taken with their type. */
class Object {
public:
	Object(const Json &json, std::string path) : json_(json), path_(std::move(path))
	{
		if (!json.is_object())
			throw Wrong{path_ + ": not an object"};
	}

	bool has(const char *key) const { return json_.contains(key); }

	template <class T>
	T number(const char *key) const
	{
		const Json &value = field(key);
		if constexpr (std::is_floating_point_v<T>) {
			if (!value.is_number() || !std::isfinite(value.get<T>()) || value.get<T>() < 0)
				wrong(key, "not a number of seconds");
			return value.get<T>();
		} else {
			if (!value.is_number_integer())
				wrong(key, "not a whole number");
			/* nlohmann keeps what is above int64 as unsigned */
			if (value.is_number_unsigned()) {
				if (!std::in_range<T>(value.get<uint64_t>()))
					wrong(key, "number does not fit");
			} else if (!std::in_range<T>(value.get<int64_t>())) {
				wrong(key, "number does not fit");
			}
			return value.get<T>();
		}
	}

	template <class T>
	std::optional<T> optional_number(const char *key) const
	{
		if (!has(key))
			return std::nullopt;
		return number<T>(key);
	}

	std::string text(const char *key) const
	{
		const Json &value = field(key);
		if (!value.is_string())
			wrong(key, "not a string");
		const auto &string = value.get_ref<const std::string &>();
		if (string.size() > longest_string)
			wrong(key, "string too long");
		return string;
	}

	bool boolean(const char *key) const
	{
		const Json &value = field(key);
		if (!value.is_boolean())
			wrong(key, "neither true nor false");
		return value.get<bool>();
	}

	template <class E, size_t N>
	E choice(const char *key, const std::array<Name<E>, N> &table) const
	{
		auto value = value_of(table, text(key));
		if (!value)
			wrong(key, "not a known name");
		return *value;
	}

	template <class T, class F>
	std::vector<T> list(const char *key, F parse) const
	{
		const Json &value = field(key);
		if (!value.is_array())
			wrong(key, "not an array");
		std::vector<T> items;
		size_t index = 0;
		for (const Json &item : value)
			items.push_back(parse(Object(item, path_ + "." + key + "[" +
							   std::to_string(index++) + "]")));
		return items;
	}

	Object object(const char *key) const { return {field(key), path_ + "." + key}; }

	const Json &field(const char *key) const
	{
		auto found = json_.find(key);
		if (found == json_.end())
			wrong(key, "missing");
		return *found;
	}

	[[noreturn]] void wrong(const char *key, const char *why) const
	{
		throw Wrong{path_ + "." + key + ": " + why};
	}

private:
	const Json &json_;
	std::string path_;
};

Owner parse_owner(const Object &in)
{
	return {in.choice("holder", holder_names), in.number<int>("pid"), in.number<int>("tid"),
		in.number<int>("fd"), in.text("comm"), in.text("unit")};
}

HiddenHolder parse_hidden(const Object &in)
{
	return {parse_owner(in), in.number<uint64_t>("count")};
}

PoolShare parse_share(const Object &in)
{
	return {in.number<uint64_t>("key"), in.number<uint64_t>("pages")};
}

Socket parse_socket(const Object &in)
{
	Socket socket;
	socket.state = in.choice("state", state_names);
	const int family = in.number<int>("family");
	if (family != 4 && family != 6)
		in.wrong("family", "neither 4 nor 6");
	socket.family = static_cast<Family>(family);
	socket.local = {in.text("src"), in.number<uint16_t>("sport")};
	socket.peer = {in.text("dst"), in.number<uint16_t>("dport")};
	socket.netns = in.number<uint32_t>("netns");
	socket.inode = in.number<uint64_t>("inode");
	socket.cookie = in.number<uint64_t>("cookie");
	socket.rmem = in.number<uint32_t>("rmem");
	socket.unread = in.number<uint32_t>("unread");
	socket.out_of_order = in.choice("out_of_order", maybe_names);
	socket.error_queue = in.choice("error_queue", maybe_names);
	socket.pool_pages = in.choice("pool_pages", maybe_names);
	socket.pool_unclear = in.boolean("pool_unclear");
	socket.shares = in.list<PoolShare>("pools", parse_share);
	socket.age_ms = in.optional_number<uint64_t>("age_ms");
	socket.error = in.optional_number<int>("error");
	socket.cpu = in.number<int>("cpu");
	socket.ulp = in.text("ulp");
	socket.owners = in.list<Owner>("owners", parse_owner);
	return socket;
}

Pool parse_pool(const Object &in)
{
	return {in.optional_number<uint64_t>("id"), in.number<uint32_t>("netns"),
		in.number<uint32_t>("ifindex"), in.text("device"), in.text("driver"),
		in.number<uint32_t>("napi_id"), in.number<int64_t>("inflight"),
		in.optional_number<uint64_t>("inflight_mem"),
		in.optional_number<uint64_t>("detached_at"), in.boolean("listed"),
		in.number<uint64_t>("key"), in.optional_number<uint32_t>("hold"),
		in.number<uint64_t>("reached")};
}

PoolReport parse_report(const Object &in)
{
	return {in.choice("source", source_names), in.number<double>("at"),
		in.optional_number<uint64_t>("id"), in.text("address"),
		in.number<int64_t>("inflight"), in.optional_number<uint64_t>("stalled_s"),
		in.optional_number<uint32_t>("hold"), in.number<uint32_t>("ifindex")};
}

Netns parse_netns(const Object &in)
{
	return {in.number<uint32_t>("netns"), in.text("name"), in.number<int>("pid"),
		in.text("comm"), in.boolean("entered"),
		in.optional_number<int>("tcp_purge_receive_queue")};
}

Nic parse_nic(const Object &in)
{
	return {in.number<uint32_t>("netns"), in.text("device"), in.text("driver"),
		in.text("version"), in.text("firmware")};
}

Feature parse_feature(const Object &in)
{
	return {in.text("name"), in.choice("present", maybe_names), in.text("adds")};
}

std::vector<std::string> parse_notes(const Object &in)
{
	const Json &notes = in.field("notes");
	std::vector<std::string> texts;
	if (!notes.is_array())
		in.wrong("notes", "not an array");
	for (const Json &note : notes) {
		if (!note.is_string() || note.get_ref<const std::string &>().size() > longest_string)
			in.wrong("notes", "not an array of short strings");
		texts.push_back(note.get<std::string>());
	}
	return texts;
}

Snapshot parse_object(const Object &in)
{
	if (in.number<int>("version") != snapshot_version)
		in.wrong("version", "another format: take the snapshot with this program's version");

	Snapshot snapshot;
	snapshot.host = in.text("host");
	snapshot.kernel = in.text("kernel");
	snapshot.taken = in.number<int64_t>("taken");
	snapshot.boottime = in.number<double>("boottime");
	snapshot.method = in.text("method");
	snapshot.listened = in.number<double>("listened");
	const Object stat = in.object("sockstat");
	snapshot.sockstat = {stat.number<uint64_t>("alloc"), stat.number<uint64_t>("mem_pages"),
			     stat.number<uint64_t>("inuse"), stat.number<uint64_t>("closed_seen")};
	const Object hidden = in.object("hidden");
	snapshot.hidden = {hidden.number<uint64_t>("in_flight"),
			   hidden.number<uint64_t>("io_uring"),
			   hidden.number<uint64_t>("refused"),
			   hidden.number<uint64_t>("namespaces"),
			   hidden.number<uint64_t>("mptcp"),
			   hidden.list<HiddenHolder>("holders", parse_hidden)};
	snapshot.namespaces = in.list<Netns>("namespaces", parse_netns);
	snapshot.sockets = in.list<Socket>("sockets", parse_socket);
	snapshot.pools = in.list<Pool>("pools", parse_pool);
	snapshot.reports = in.list<PoolReport>("reports", parse_report);
	snapshot.nics = in.list<Nic>("nics", parse_nic);
	snapshot.features = in.list<Feature>("features", parse_feature);
	snapshot.notes = parse_notes(in);
	return snapshot;
}

} // namespace

Result<Snapshot> parse_snapshot(std::string_view text)
{
	const Json json = Json::parse(text, nullptr, false);
	if (json.is_discarded())
		return failure("not JSON: was the file written by `rxstall snapshot`?");
	try {
		return parse_object(Object(json, "snapshot"));
	} catch (const Wrong &wrong) {
		return failure(wrong.text);
	}
}

} // namespace rxstall
