// SPDX-License-Identifier: GPL-2.0
/*
 * One netlink request and its answer, in the calling thread's network
 * namespace. Attributes are put with libmnl's mnl_attr_put_*() on header().
 */
#pragma once

#include <array>
#include <cstdint>

#include <libmnl/libmnl.h>

namespace selftest {

class NetlinkRequest {
public:
	/** NLM_F_REQUEST is added to @flags. */
	explicit NetlinkRequest(std::uint16_t type, std::uint16_t flags = 0)
		: header_(mnl_nlmsg_put_header(buffer_.data()))
	{
		header_->nlmsg_type = type;
		header_->nlmsg_flags = NLM_F_REQUEST | flags;
	}
	NetlinkRequest(const NetlinkRequest &) = delete;
	NetlinkRequest &operator=(const NetlinkRequest &) = delete;

	/** Appends a zeroed @Body, the family's own header. */
	template <class Body> Body &put()
	{
		return *static_cast<Body *>(
			mnl_nlmsg_put_extra_header(header_, sizeof(Body)));
	}

	nlmsghdr *header() { return header_; }

	/**
	 * Sends it on @bus (NETLINK_ROUTE ...) and gives the first message that
	 * comes back, valid as long as the request is. An error from the
	 * kernel is thrown as std::system_error beginning with @what; an
	 * acknowledgement, which NLM_F_ACK asks for, is returned.
	 */
	const nlmsghdr *send(int bus, const char *what);

private:
	alignas(nlmsghdr) std::array<char, 8192> buffer_{};
	nlmsghdr *header_;
};

} // namespace selftest
