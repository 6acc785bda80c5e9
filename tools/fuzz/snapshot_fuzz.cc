// SPDX-License-Identifier: GPL-2.0
#include <cstdlib>

#include "lib/facts_json.h"
#include "lib/pools.h"
#include "lib/render.h"
#include "lib/verdict.h"

using namespace rxstall;

/* What is accepted must render, judge and come back the same. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto snapshot = parse_snapshot({reinterpret_cast<const char *>(data), size});
	if (!snapshot)
		return 0;
	for (unsigned char c : sockets_table(*snapshot, true, {}))
		if (c != '\n' && (c < 0x20 || c > 0x7e))
			std::abort();
	(void)merge_pools(*snapshot);
	(void)verdict(*snapshot);
	auto again = parse_snapshot(dump(to_json(*snapshot), false));
	if (!again || !(*again == *snapshot))
		std::abort();
	return 0;
}
