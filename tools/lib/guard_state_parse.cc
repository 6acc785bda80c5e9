// SPDX-License-Identifier: GPL-2.0
#include "guard_state.h"

#include "facts_json.h"

namespace rxstall {

namespace {

struct Counter {
	const char *name;
	uint64_t GuardState::*member;
};

constexpr Counter counters[] = {
	{"scans", &GuardState::scans},
	{"released", &GuardState::released},
	{"released_bytes", &GuardState::released_bytes},
	{"failed", &GuardState::failed},
	{"namespaces_set", &GuardState::namespaces_set},
};

} // namespace

std::string dump_guard_state(const GuardState &state)
{
	Json json;
	json["mode"] = state.mode;
	json["pid"] = state.pid;
	for (const Counter &counter : counters)
		json[counter.name] = state.*counter.member;
	return dump(json, false) + "\n";
}

Result<GuardState> parse_guard_state(std::string_view text)
{
	const Json json = Json::parse(text, nullptr, false);
	if (!json.is_object())
		return failure("not a state of rxstall guard");

	GuardState state;
	const auto mode = json.find("mode");
	const auto pid = json.find("pid");
	if (mode == json.end() || !mode->is_string() || pid == json.end() ||
	    !pid->is_number_unsigned() || pid->get<uint64_t>() > INT32_MAX)
		return failure("mode or pid is missing or wrong");
	state.mode = mode->get<std::string>();
	state.pid = pid->get<int>();
	for (const Counter &counter : counters) {
		const auto value = json.find(counter.name);
		if (value == json.end() || !value->is_number_unsigned())
			return failure(std::string(counter.name) + " is missing or wrong");
		state.*counter.member = value->get<uint64_t>();
	}
	return state;
}

} // namespace rxstall
