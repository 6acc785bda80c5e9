// SPDX-License-Identifier: GPL-2.0
/*
 * Two network namespaces joined by a veth pair whose receiving end runs an
 * XDP_PASS program: the one way to get page_pool memory into TCP's receive
 * queues without a network card. veth copies each packet into pages of its
 * receive queue's pool then (drivers/net/veth.c, veth_convert_skb_to_xdp_buff,
 * since 6.8). The pair has one receive queue, so one pool. Before that veth has
 * no pool, and vm/pp_rx.c lends the receiving end one.
 */
#pragma once

#include <cstdint>

#include "address.h"
#include "netns.h"
#include "unique_fd.h"

namespace selftest {

class VethLink {
public:
	/** The name of the peer's end. */
	static constexpr const char *peer_name = "tx0";

	/**
	 * Makes @peer's and @receiver's end, brings both up and gives the
	 * receiver's its pool. Throws std::system_error, and Skip if this kernel
	 * can give it none.
	 */
	VethLink(const Netns &peer, const Netns &receiver);

	/** Deletes the pair, which destroys the pool. */
	void remove();

	/** Takes the pool off the receiver's end, which destroys it. */
	void detach_pool();

	/** The peer's address, port @port. */
	[[nodiscard]] Address peer_address(std::uint16_t port) const;

private:
	void attach_pool();

	const Netns &receiver_;
	unique_fd pool_{};	/* the XDP program, or pp_rx */
	bool module_ = false;	/* it is pp_rx */
	int ifindex_ = 0;	/* of the receiver's end */
};

/** What the peer does before it goes: payload of @bytes, then FIN, then RST. */
struct Farewell {
	std::size_t bytes = 0;
	bool reset = true;
};

/**
 * A connection from @receiver to @peer over @link that the peer has ended as
 * @farewell says, while nobody read. Returns the receiver's descriptor once
 * everything has arrived. Throws std::system_error.
 */
unique_fd abandoned_connection(const VethLink &link, const Netns &peer,
			       const Netns &receiver, const Farewell &farewell);

} // namespace selftest
