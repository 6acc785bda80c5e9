// SPDX-License-Identifier: GPL-2.0
#include "kmsg.h"

#include <fcntl.h>
#include <unistd.h>

#include "checked.h"

namespace selftest {

Kmsg::Kmsg()
	: fd_(check(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC),
		    "/dev/kmsg"))
{
	check(::lseek(fd_.get(), 0, SEEK_END), "lseek /dev/kmsg");
}

std::vector<std::string> Kmsg::read()
{
	std::vector<std::string> messages;
	char record[8192];

	/* One record a read(): "prio,seq,time,flags;text\n", then properties. */
	for (;;) {
		const ssize_t n = ::read(fd_.get(), record, sizeof(record));

		if (n < 0 && errno == EPIPE)	/* overwritten, go on after it */
			continue;
		if (n < 0 && errno == EAGAIN)
			return messages;
		const std::string text(record, static_cast<std::size_t>(
						       check(n, "/dev/kmsg")));
		const auto start = text.find(';') + 1;

		messages.push_back(
			text.substr(start, text.find('\n', start) - start));
	}
}

} // namespace selftest
