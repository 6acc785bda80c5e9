// SPDX-License-Identifier: GPL-2.0
#include "segment.h"

#include <tins/tins.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace selftest {

namespace {

constexpr std::uint32_t peers_v4 = 0xc6130000;
constexpr std::uint32_t host_mask = 0xffff;

void add_options(Tins::TCP &tcp, const TcpOptions &options)
{
	using Tins::TCP;

	if (options.mss)
		tcp.mss(*options.mss);
	if (options.sack_permitted)
		tcp.sack_permitted();
	if (options.wscale)
		tcp.winscale(*options.wscale);
	if (options.timestamps) {
		/* The layout of RFC 7323 appendix A, which Linux reads fastest. */
		tcp.add_option(TCP::option(TCP::NOP));
		tcp.add_option(TCP::option(TCP::NOP));
		tcp.timestamp(options.timestamps->first,
			      options.timestamps->second);
	}
	if (!options.sack.empty()) {
		TCP::sack_type edges;

		for (const auto &[left, right] : options.sack) {
			edges.push_back(left);
			edges.push_back(right);
		}
		tcp.sack(edges);
	}
}

TcpOptions read_options(const Tins::TCP &tcp)
{
	using Tins::TCP;
	TcpOptions options;

	if (tcp.search_option(TCP::MSS) != nullptr)
		options.mss = tcp.mss();
	if (tcp.search_option(TCP::WSCALE) != nullptr)
		options.wscale = tcp.winscale();
	options.sack_permitted = tcp.has_sack_permitted();
	if (tcp.search_option(TCP::SACK) != nullptr) {
		const TCP::sack_type edges = tcp.sack();

		for (std::size_t i = 0; i + 1 < edges.size(); i += 2)
			options.sack.emplace_back(edges[i], edges[i + 1]);
	}
	if (tcp.search_option(TCP::TSOPT) != nullptr)
		options.timestamps = tcp.timestamp();
	return options;
}

Segment read_segment(const Tins::TCP &tcp)
{
	Segment segment;
	const auto *payload = tcp.find_pdu<Tins::RawPDU>();

	segment.flags = tcp.flags();
	segment.seq = tcp.seq();
	segment.ack = tcp.ack_seq();
	segment.window = tcp.window();
	segment.urgent = tcp.urg_ptr();
	segment.options = read_options(tcp);
	if (payload != nullptr)
		segment.payload.assign(payload->payload().begin(),
				       payload->payload().end());
	return segment;
}

std::vector<std::uint8_t> with_tcp(Tins::PDU &&ip, const Path &path,
				   const Segment &segment)
{
	auto *tcp = new Tins::TCP(path.kernel_port, path.peer_port);

	ip.inner_pdu(tcp); /* takes it over */
	tcp->flags(segment.flags);
	tcp->seq(segment.seq);
	tcp->ack_seq(segment.ack);
	tcp->window(segment.window);
	tcp->urg_ptr(segment.urgent);
	add_options(*tcp, segment.options);
	if (!segment.payload.empty())
		tcp->inner_pdu(new Tins::RawPDU(segment.payload));
	return ip.serialize();
}

std::optional<std::uint32_t> host_of(Tins::IPv4Address address)
{
	const std::uint32_t number =
		Tins::Endian::be_to_host<std::uint32_t>(address);

	if ((number & ~host_mask) != peers_v4)
		return std::nullopt;
	return number & host_mask;
}

std::optional<std::uint32_t> host_of(const Tins::IPv6Address &address)
{
	const Address first = peer_address(Family::v6, 0, 0);
	const auto *peer = reinterpret_cast<const sockaddr_in6 *>(first.get());
	constexpr std::size_t prefix = 14;

	if (!std::equal(address.begin(), address.begin() + prefix,
			peer->sin6_addr.s6_addr))
		return std::nullopt;
	return *(address.begin() + prefix) * 256U +
	       *(address.begin() + prefix + 1);
}

template <class Ip>
std::optional<Arrival> decode_as(std::span<const std::uint8_t> packet)
{
	const Ip ip(packet.data(), static_cast<std::uint32_t>(packet.size()));
	const auto *tcp = ip.template find_pdu<Tins::TCP>();
	const auto host = host_of(ip.dst_addr());

	if (tcp == nullptr || !host)
		return std::nullopt;
	return Arrival{{std::is_same_v<Ip, Tins::IPv6>, *host, tcp->dport(),
			tcp->sport()},
		       read_segment(*tcp)};
}

} // namespace

std::string flags_text(std::uint16_t flags)
{
	static constexpr std::array<std::pair<Flag, std::string_view>, 8> names{{
		{SYN, "SYN"}, {FIN, "FIN"}, {RST, "RST"}, {PSH, "PSH"},
		{ACK, "ACK"}, {URG, "URG"}, {ECE, "ECE"}, {CWR, "CWR"},
	}};
	std::string text;

	for (const auto &[flag, name] : names) {
		if ((flags & flag) == 0)
			continue;
		if (!text.empty())
			text += ' ';
		text += name;
	}
	return text.empty() ? "none" : text;
}

std::vector<std::uint8_t> encode(const Path &path, const Segment &segment)
{
	if (path.ipv6)
		return with_tcp(
			Tins::IPv6(kernel_ip(Family::v6),
				   peer_ip(Family::v6, path.host)),
			path, segment);
	return with_tcp(Tins::IP(kernel_ip(Family::v4),
				 peer_ip(Family::v4, path.host)),
			path, segment);
}

std::optional<Arrival> decode(std::span<const std::uint8_t> packet)
{
	if (packet.empty())
		return std::nullopt;
	try {
		return packet[0] >> 4 == 6 ? decode_as<Tins::IPv6>(packet)
					   : decode_as<Tins::IP>(packet);
	} catch (const Tins::exception_base &) {
		return std::nullopt; /* not well formed: not a segment */
	}
}

std::string pattern(std::int64_t offset, std::size_t length)
{
	constexpr int period = 251; /* prime: no power of two hides a shift */
	std::string bytes(length, '\0');

	for (std::size_t i = 0; i < length; i++) {
		const auto at = (offset + static_cast<std::int64_t>(i)) % period;

		bytes[i] = static_cast<char>(at < 0 ? at + period : at);
	}
	return bytes;
}

} // namespace selftest
