/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading one answer of the netdev family's page-pool-get. The numbers come
 * from Documentation/netlink/specs/netdev.yaml; headers before Linux 6.8
 * lack them.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "facts.h"

namespace rxstall {

inline constexpr uint8_t netdev_cmd_page_pool_get = 5;

/*
 * payload is what follows the generic netlink header. Nothing without an id.
 * netns, device and driver are not part of an answer.
 */
[[nodiscard]] std::optional<Pool> parse_pool_answer(std::span<const uint8_t> payload);

/* The id that the answer to CTRL_CMD_GETFAMILY gives, from the same place. */
[[nodiscard]] std::optional<uint16_t> parse_family_id(std::span<const uint8_t> payload);

} // namespace rxstall
