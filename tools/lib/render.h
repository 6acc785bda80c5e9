/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Facts and judgements as text for people, and the JSON of what is judged
 * rather than collected. Knows nothing of the kernel.
 */
#pragma once

#include <string>

#include "facts_json.h"
#include "judge.h"
#include "table.h"

namespace rxstall {

/* One line a socket and the sums; extended adds inode, CPU, unit and all owners. */
[[nodiscard]] std::string sockets_table(const Snapshot &snapshot, bool extended,
					const Style &style);

[[nodiscard]] std::string groups_table(const std::vector<Socket> &sockets,
				       const std::vector<GroupKey> &keys, const Style &style);
[[nodiscard]] Json groups_json(const std::vector<Socket> &sockets,
			       const std::vector<GroupKey> &keys);

/* "3 sockets hold 2.4K ..." and what could not be seen. */
[[nodiscard]] std::string sums_text(const Snapshot &snapshot);

} // namespace rxstall
