// SPDX-License-Identifier: GPL-2.0
#include "klog.h"

#include <cerrno>
#include <fcntl.h>

#include "klog_parse.h"

namespace rxstall {

Result<Klog> Klog::open()
{
	Fd fd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	if (!fd)
		return failure(errno, "/dev/kmsg");
	return Klog(std::move(fd));
}

std::vector<PoolReport> Klog::read_new()
{
	std::vector<PoolReport> reports;
	char record[8192];	/* the kernel's limit for one (CONSOLE_EXT_LOG_MAX) */

	for (;;) {
		const ssize_t length = read(fd_.get(), record, sizeof(record));
		/* EPIPE: records were overwritten before we came; go on with the next */
		if (length < 0 && (errno == EINTR || errno == EPIPE || errno == EINVAL))
			continue;
		if (length <= 0)
			return reports;
		if (auto report = parse_kmsg_record({record, static_cast<size_t>(length)}))
			reports.push_back(std::move(*report));
	}
}

void Klog::skip_old()
{
	lseek(fd_.get(), 0, SEEK_END);
}

} // namespace rxstall
