// SPDX-License-Identifier: GPL-2.0
#include "lib/diag_parse.h"

using namespace rxstall;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)parse_diag({data, size});
	return 0;
}
