// SPDX-License-Identifier: GPL-2.0
#include "netdev_parse.h"

#include <cstring>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

namespace rxstall {

namespace {

enum PoolAttribute : uint16_t {
	pool_id = 1,
	pool_ifindex,
	pool_napi_id,
	pool_inflight,
	pool_inflight_mem,
	pool_detach_time,
};

template <class T>
T load(const nlattr *attr)
{
	T value{};
	std::memcpy(&value, mnl_attr_get_payload(attr), sizeof(value));
	return value;
}

/* The spec's "uint" has four or eight bytes, as the value needs. */
std::optional<uint64_t> number(const nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint32_t):
		return load<uint32_t>(attr);
	case sizeof(uint64_t):
		return load<uint64_t>(attr);
	default:
		return std::nullopt;
	}
}

template <class F>
void each_attribute(std::span<const uint8_t> payload, F visit)
{
	const auto *attr = reinterpret_cast<const nlattr *>(payload.data());
	int left = static_cast<int>(payload.size());
	while (mnl_attr_ok(attr, left)) {
		visit(attr);
		left -= static_cast<int>(MNL_ALIGN(attr->nla_len));
		attr = mnl_attr_next(attr);
	}
}

} // namespace

std::optional<Pool> parse_pool_answer(std::span<const uint8_t> payload)
{
	Pool pool;
	bool has_id = false;

	each_attribute(payload, [&](const nlattr *attr) {
		const auto value = number(attr);
		if (!value)
			return;
		switch (mnl_attr_get_type(attr)) {
		case pool_id:
			pool.id = *value;
			has_id = true;
			break;
		case pool_ifindex:
			pool.ifindex = static_cast<uint32_t>(*value);
			break;
		case pool_napi_id:
			pool.napi_id = static_cast<uint32_t>(*value);
			break;
		case pool_inflight:
			/* an int on its way through a size_t: below zero it comes as 2^64 - n */
			pool.inflight = static_cast<int64_t>(*value);
			break;
		case pool_inflight_mem:
			pool.inflight_mem = *value;
			break;
		case pool_detach_time:
			pool.detached_at = *value;
			break;
		default:
			break;
		}
	});
	if (!has_id)
		return std::nullopt;
	return pool;
}

std::optional<uint16_t> parse_family_id(std::span<const uint8_t> payload)
{
	std::optional<uint16_t> id;
	each_attribute(payload, [&](const nlattr *attr) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_get_payload_len(attr) >= sizeof(uint16_t))
			id = load<uint16_t>(attr);
	});
	return id;
}

} // namespace rxstall
