// SPDX-License-Identifier: GPL-2.0
#include "checked.h"
#include "peer.h"

namespace selftest {

namespace {

constexpr std::uint16_t server_port = 9092;
/* Few enough per host that the search for an ephemeral port stays short. */
constexpr std::uint32_t connects_per_host = 4096;
/* Hosts that connect to the kernel are the upper half. */
constexpr std::uint32_t first_client = peer_hosts / 2;
constexpr std::uint32_t ports_per_client = 32768;
constexpr std::uint16_t first_client_port = 1024;

std::uint64_t key_of(const Path &path)
{
	return (path.ipv6 ? std::uint64_t{1} << 63 : 0) |
	       std::uint64_t{path.host} << 32 |
	       std::uint64_t{path.peer_port} << 16 | path.kernel_port;
}

} // namespace

Peer::~Peer()
{
	wire_.peers_.erase(key_of(path_));
}

std::unique_ptr<Peer> Wire::add(const Path &path, const Handshake &handshake)
{
	std::unique_ptr<Peer> peer(new Peer(*this, path, handshake));

	peers_[key_of(path)] = peer.get();
	return peer;
}

void Wire::transmit(const Path &path, const Segment &segment)
{
	tun_.write(encode(path, segment));
}

void Wire::pump()
{
	while (const auto packet = tun_.read()) {
		auto arrival = decode(*packet);

		if (!arrival)
			continue;
		const auto it = peers_.find(key_of(arrival->path));

		if (it != peers_.end())
			it->second->arrived(std::move(arrival->segment));
	}
}

void Wire::pump(milliseconds timeout)
{
	if (tun_.wait(static_cast<int>(timeout.count())))
		pump();
}

std::unique_ptr<Peer> Wire::begin_connect(TcpSocket &app, Family family,
					  const Handshake &handshake)
{
	const std::uint32_t host = connects_++ / connects_per_host;
	const Address to = peer_address(family, host, server_port);

	if (::connect(app.fd(), to.get(), to.length) < 0 &&
	    errno != EINPROGRESS)
		fail(errno, "connect");

	auto peer = add({family == Family::v6, host, server_port,
			 local_address(app.fd()).port()},
			handshake);

	peer->expect(SYN);
	return peer;
}

std::unique_ptr<Peer> Wire::connect(TcpSocket &app, Family family,
				    const Handshake &handshake)
{
	auto peer = begin_connect(app, family, handshake);

	peer->send(bare(SYN | ACK));
	peer->expect(ACK);
	return peer;
}

Connection Wire::connect(Family family, const Handshake &handshake)
{
	TcpSocket app = TcpSocket::create(family);
	auto peer = connect(app, family, handshake);

	return {std::move(app), std::move(peer)};
}

std::unique_ptr<Peer> Wire::begin_open(const Listener &listener,
				       const Handshake &handshake)
{
	const std::uint32_t number = opens_++;
	auto peer = add({listener.family() == Family::v6,
			 first_client + number / ports_per_client,
			 static_cast<std::uint16_t>(first_client_port +
						    number % ports_per_client),
			 listener.port()},
			handshake);

	peer->send(bare(SYN));
	return peer;
}

std::unique_ptr<Peer> Wire::open(const Listener &listener,
				 const Handshake &handshake)
{
	auto peer = begin_open(listener, handshake);

	peer->expect(SYN | ACK);
	peer->send(ack());
	return peer;
}

Connection Wire::accept(Listener &listener, const Handshake &handshake)
{
	auto peer = open(listener, handshake);

	return {listener.accept(), std::move(peer)};
}

} // namespace selftest
