// SPDX-License-Identifier: GPL-2.0
#include "guard_scan.h"

#include "collect.h"
#include "facts_json.h"

namespace rxstall {

Result<std::string> scan_report(const GuardScope &scope, const Tried &tried, unsigned limit, int self)
{
	CollectRequest request;
	request.states = scope.filter.states ? scope.filter.states : over_mask();
	request.method = scope.method;
	auto snapshot = collect(request);
	if (!snapshot)
		return tl::unexpected(snapshot.error());
	if (snapshot->hidden.refused)
		snapshot->notes.push_back("some processes may not be looked into (CAP_SYS_PTRACE): what they hold stays");
	Plan plan = plan_release(snapshot->sockets, scope.filter, scope.min_age_ms, tried, limit, self);
	return dump_scan_report(std::move(*snapshot), std::move(plan));
}

std::string dump_scan_report(Snapshot snapshot, Plan plan)
{
	snapshot.sockets = std::move(plan.sockets);
	Json json = to_json(snapshot);
	json["left_over"] = plan.left_over;
	if (plan.ripe_in_ms)
		json["ripe_in_ms"] = *plan.ripe_in_ms;
	return dump(json, false);
}

Result<ScanReport> read_scan_report(const std::string &text)
{
	auto snapshot = parse_snapshot(text);
	if (!snapshot)
		return tl::unexpected(snapshot.error());
	const Json json = Json::parse(text, nullptr, false);
	ScanReport report;
	report.plan.sockets = std::move(snapshot->sockets);
	report.plan.left_over = json.value("left_over", size_t{0});
	if (json.contains("ripe_in_ms"))
		report.plan.ripe_in_ms = json["ripe_in_ms"].get<uint64_t>();
	report.notes = std::move(snapshot->notes);
	return report;
}

} // namespace rxstall
