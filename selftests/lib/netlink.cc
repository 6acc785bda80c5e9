// SPDX-License-Identifier: GPL-2.0
#include "netlink.h"

#include <sys/socket.h>

#include "checked.h"
#include "unique_fd.h"

namespace selftest {

const nlmsghdr *NetlinkRequest::send(int bus, const char *what)
{
	const unique_fd fd(check(
		::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, bus), what));

	check(::send(fd.get(), header_, header_->nlmsg_len, 0), what);

	const auto size = static_cast<int>(check(
		::recv(fd.get(), buffer_.data(), buffer_.size(), 0), what));
	const auto *answer = reinterpret_cast<const nlmsghdr *>(buffer_.data());

	if (!mnl_nlmsg_ok(answer, size))
		fail(EBADMSG, what);
	if (answer->nlmsg_type == NLMSG_ERROR) {
		const auto *status = static_cast<const nlmsgerr *>(
			mnl_nlmsg_get_payload(answer));

		if (status->error != 0)
			fail(-status->error, what);
	}
	return answer;
}

} // namespace selftest
