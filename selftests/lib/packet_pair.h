// SPDX-License-Identifier: GPL-2.0
/*
 * What Tun uses where /dev/net/tun cannot be opened: a veth pair, the kernel's
 * end with its addresses, the other end read and written by a packet socket. A
 * user namespace's root may make both.
 */
#pragma once

#include <linux/if_packet.h>

#include <string>

#include "unique_fd.h"

namespace selftest {

struct PacketPair {
	unique_fd fd;		/**< AF_PACKET, SOCK_DGRAM: whole IP packets */
	std::string name;	/**< the kernel's end */
	sockaddr_ll to_kernel;	/**< for sendto(); its protocol is to be set */
};

/**
 * Makes the pair in the calling thread's network namespace, neither address nor
 * neighbour discovery on it, the kernel's end still down. It stays until the
 * namespace goes. Throws std::system_error.
 */
PacketPair make_packet_pair();

} // namespace selftest
