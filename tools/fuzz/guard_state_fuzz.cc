// SPDX-License-Identifier: GPL-2.0
#include <cstdlib>

#include "lib/guard_state.h"

using namespace rxstall;

/* What is accepted must come back the same. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto state = parse_guard_state({reinterpret_cast<const char *>(data), size});
	if (!state)
		return 0;
	auto again = parse_guard_state(dump_guard_state(*state));
	if (!again || !(*again == *state))
		std::abort();
	return 0;
}
