// SPDX-License-Identifier: GPL-2.0
#include "lib/trace_parse.h"

using namespace rxstall;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)parse_pool_event({reinterpret_cast<const char *>(data), size}, 0);
	(void)parse_state_event({reinterpret_cast<const char *>(data), size});
	return 0;
}
