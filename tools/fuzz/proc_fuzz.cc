// SPDX-License-Identifier: GPL-2.0
#include "lib/limits.h"
#include "lib/proc_parse.h"

using namespace rxstall;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	(void)parse_cgroup(text);
	(void)parse_sockstat(text);
	(void)parse_scm_fds(text);
	(void)parse_uring_files(text);
	(void)parse_netns_mounts(text);
	(void)parse_socket_link(text);
	(void)parse_open_files(text);
	return 0;
}
