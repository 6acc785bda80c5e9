// SPDX-License-Identifier: GPL-2.0
#include "lib/netdev_parse.h"

using namespace rxstall;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)parse_pool_answer({data, size});
	(void)parse_family_id({data, size});
	return 0;
}
