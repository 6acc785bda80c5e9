// SPDX-License-Identifier: GPL-2.0
#include "lib/klog_parse.h"

using namespace rxstall;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)parse_kmsg_record({reinterpret_cast<const char *>(data), size});
	(void)parse_stalled_line({reinterpret_cast<const char *>(data), size});
	return 0;
}
