// SPDX-License-Identifier: GPL-2.0
/*
 * A TUN device: what the kernel sends comes out of read(), what is written goes
 * into the kernel's receive path. write() returns after the packet has been
 * through TCP (drivers/net/tun.c calls netif_receive_skb), unless the socket
 * was locked by a process, so a test need not wait between its steps.
 *
 * Where /dev/net/tun is missing or not for us, as in some containers, a veth
 * pair with a packet socket (packet_pair.h) takes its place.
 */
#pragma once

#include <linux/if_packet.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unique_fd.h"

namespace selftest {

class Tun {
public:
	/**
	 * Creates the device in the calling thread's network namespace with the
	 * kernel's addresses of address.h and sets it up. It goes away with
	 * this object. @mtu in bytes, at least 1280 for IPv6.
	 *
	 * Throws std::system_error; needs CAP_NET_ADMIN and CAP_NET_RAW over
	 * the namespace.
	 */
	explicit Tun(int mtu = 1500);

	/**
	 * The next packet the kernel sent; nothing when there is none yet. The
	 * bytes are valid until the next call.
	 */
	std::optional<std::span<const std::uint8_t>> read();

	/** Hands a packet to the kernel. */
	void write(std::span<const std::uint8_t> packet);

	/** Waits until a packet can be read; false after @timeout_ms. */
	bool wait(int timeout_ms);

	[[nodiscard]] int fd() const { return fd_.get(); }
	/**
	 * How many packets the kernel may send in one go without a loss, while
	 * nobody reads.
	 */
	[[nodiscard]] std::size_t burst() const;

	/** The device's name, for instance for `ip link`. */
	[[nodiscard]] const std::string &name() const { return name_; }

private:
	unique_fd fd_;
	std::string name_;
	std::optional<sockaddr_ll> to_kernel_;	/* of a packet socket */
	std::vector<std::uint8_t> buffer_;
};

} // namespace selftest
