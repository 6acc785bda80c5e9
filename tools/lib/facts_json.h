/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The facts as JSON and back. What is read may come from anywhere, so every
 * field is checked for type and range before a snapshot exists; nothing is
 * half-read.
 */
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "facts.h"
#include "result.h"

namespace rxstall {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const Owner &owner);
[[nodiscard]] Json to_json(const PoolShare &share);
[[nodiscard]] Json to_json(const HiddenHolder &holder);
[[nodiscard]] Json to_json(const Socket &socket);
[[nodiscard]] Json to_json(const Pool &pool);
[[nodiscard]] Json to_json(const PoolReport &report);
[[nodiscard]] Json to_json(const Netns &netns);
[[nodiscard]] Json to_json(const Nic &nic);
[[nodiscard]] Json to_json(const Feature &feature);
[[nodiscard]] Json to_json(const Snapshot &snapshot);

/* JSON text in ASCII; invalid UTF-8 in foreign strings is replaced. */
[[nodiscard]] std::string dump(const Json &json, bool pretty);

/*
 * Reads a saved snapshot. The error names the field that is wrong, by path,
 * as "sockets[3].rmem: not a number that fits".
 */
[[nodiscard]] Result<Snapshot> parse_snapshot(std::string_view text);

/* The format this program writes; others are refused. */
inline constexpr int snapshot_version = 2;

} // namespace rxstall
