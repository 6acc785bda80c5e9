// SPDX-License-Identifier: GPL-2.0
#include "reproduce_cases.h"

namespace reproduce {

namespace {

using namespace selftest;

constexpr Step P_data(int n, int offset = 0)
{
	return {Op::peer_sends, n, PSH | ACK, offset};
}

constexpr Step P(std::uint16_t flags, int offset = 0)
{
	return {Op::peer_sends, 0, flags, offset};
}

constexpr Step C_must_send(std::uint16_t flags)
{
	return {Op::app_must_send, 0, flags};
}

constexpr Step P_fin = P(FIN | ACK);
constexpr Step P_fills = {Op::peer_fills};
constexpr Step C_shuts_down = {Op::app_shuts_down};
constexpr Step C_keepalive = {Op::app_keepalive};
constexpr Step C_stamps = {Op::app_stamps};

constexpr Step C_sends(int n)
{
	return {Op::app_sends, n};
}

constexpr Step C_receives(int n)
{
	return {Op::app_receives, n};
}

/* One outcome for all three values. */
constexpr std::array<Left, 3> always(const Left &left)
{
	return {left, left, left};
}

/* A FIN and no payload was queued when the reset came: only memory differs. */
constexpr std::array<Left, 3> fin_reset(std::string_view reader,
					std::string_view writer)
{
	const Left held = {Queue::fin, 0, reader, writer};
	const Left purged = {Queue::empty, 0, reader, writer};

	return {held, purged, purged};
}

/* Payload was queued in front of the FIN: 1 discards it and says so. */
constexpr std::array<Left, 3> payload_reset(int unread, std::string_view reader,
					    std::string_view writer)
{
	const Left held = {Queue::payload, unread, reader, writer};
	const Left flushed = {
		Queue::empty, 0,
		"ECONNRESET 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE",
		"ECONNRESET EPIPE+SIGPIPE 0"};

	return {held, flushed, held};
}

constexpr std::string_view not_listed = "not listed";
constexpr std::string_view all_bits = "IN OUT ERR HUP RDHUP";
constexpr std::string_view end_of_file =
	"0 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE";
constexpr std::string_view no_more_sends = "EPIPE+SIGPIPE EPIPE+SIGPIPE 0";
constexpr std::string_view read_20 = "20 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE";
constexpr std::string_view write_20 = "EPIPE+SIGPIPE EPIPE+SIGPIPE 20";
constexpr std::string_view reset_read =
	"ECONNRESET 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE";
constexpr std::string_view reset_write = "ECONNRESET EPIPE+SIGPIPE 0";

/* Kept in the order in which a reader meets the ideas. */
const std::vector<Case> table = {
	{"both-alive", "an idle connection that both ends keep",
	 Start::connected, {},
	 "ESTABLISHED", "ESTABLISHED", "OUT",
	 always({Queue::empty, 0, "EAGAIN EAGAIN EAGAIN 1 1", "1 1 EAGAIN"})},

	{"live-unread", "P sends until the window is closed, C never reads",
	 Start::connected, {P_fills},
	 "ESTABLISHED", "ESTABLISHED", "IN OUT",
	 always({Queue::payload, any_unread, "4096 4096 4096 1 1",
		 "1 1 4096"})},

	{"fin", "P closes, C never reads the end of file",
	 Start::connected, {P_fin},
	 "CLOSE_WAIT", "CLOSE_WAIT", "IN OUT RDHUP",
	 always({Queue::fin, 0, "0 0 0 1 1", "1 1 0"})},

	{"data-fin", "107 bytes and the FIN, never read",
	 Start::connected, {P_data(107), P_fin},
	 "CLOSE_WAIT", "CLOSE_WAIT", "IN OUT RDHUP",
	 always({Queue::payload, 107, "107 0 0 1 1", "1 1 107"})},

	{"fin-rst", "P closes and later resets: the incident",
	 Start::connected, {P_fin, P(RST)},
	 "CLOSE", not_listed, all_bits, fin_reset(end_of_file, no_more_sends)},

	{"sarama-seed", "the same, the RST being the answer to C's keepalive",
	 Start::connected,
	 {P_fin, C_must_send(ACK), C_keepalive, C_must_send(ACK), P(RST)},
	 "CLOSE", not_listed, all_bits, fin_reset(end_of_file, no_more_sends)},

	{"late-write", "FIN, C writes, and the answer to it is the RST",
	 Start::connected,
	 {P_fin, C_sends(10), C_must_send(PSH | ACK), P(RST)},
	 "CLOSE", not_listed, all_bits, fin_reset(end_of_file, no_more_sends)},

	{"data-fin-rst", "20 bytes, FIN, RST",
	 Start::connected, {P_data(20), P_fin, P(RST)},
	 "CLOSE", not_listed, all_bits, payload_reset(20, read_20, write_20)},

	{"half-read", "20 bytes of which C reads 10, FIN, RST",
	 Start::connected, {P_data(20), C_receives(10), P_fin, P(RST)},
	 "CLOSE", not_listed, all_bits,
	 payload_reset(10, "10 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE",
		       "EPIPE+SIGPIPE EPIPE+SIGPIPE 10")},

	{"all-read", "20 bytes which C reads, FIN, RST",
	 Start::connected, {P_data(20), C_receives(20), P_fin, P(RST)},
	 "CLOSE", not_listed, all_bits, fin_reset(end_of_file, no_more_sends)},

	{"fin-rst-own", "the RST has the FIN's own number: accepted",
	 Start::connected, {P_fin, P(RST, -1)},
	 "CLOSE", not_listed, all_bits, fin_reset(end_of_file, no_more_sends)},

	{"data-fin-rst-own", "20 bytes, FIN, RST with the FIN's own number",
	 Start::connected, {P_data(20), P_fin, P(RST, -1)},
	 "CLOSE", not_listed, all_bits, payload_reset(20, read_20, write_20)},

	{"fin-rst-beyond", "the RST is two beyond: challenged, not accepted",
	 Start::connected,
	 {P_fin, C_must_send(ACK), P(RST, 2), C_must_send(ACK)},
	 "CLOSE_WAIT", "CLOSE_WAIT", "IN OUT RDHUP",
	 always({Queue::fin, 0, "0 0 0 1 1", "1 1 0"})},

	{"data-beyond-fin", "20 bytes, FIN, data past the FIN: reset, no RST",
	 Start::connected, {P_data(20), P_fin, P_data(10, -5)},
	 "CLOSE", not_listed, all_bits, always({Queue::payload, 20, read_20, write_20})},

	{"data-rst", "20 bytes and an RST without a FIN",
	 Start::connected, {P_data(20), P(RST)},
	 "CLOSE", not_listed, all_bits,
	 always({Queue::payload, 20,
		 "20 ECONNRESET 0 EPIPE+SIGPIPE EPIPE+SIGPIPE",
		 "ECONNRESET EPIPE+SIGPIPE 20"})},

	{"out-of-order", "20 bytes after a gap, RST",
	 Start::connected, {P_data(20, 100), P(RST)},
	 "CLOSE", not_listed, all_bits,
	 always({Queue::out_of_order, 0, reset_read, reset_write})},

	{"stamps", "transmit timestamps on the error queue, RST",
	 Start::connected,
	 {C_stamps, C_sends(1), C_must_send(PSH | ACK), P(ACK), P(RST)},
	 "CLOSE", not_listed, all_bits,
	 always({Queue::error_queue, 0, reset_read, reset_write})},

	{"half-closed", "P closes, then C shuts down: CLOSE without an error",
	 Start::connected,
	 {P_fin, C_shuts_down, C_must_send(FIN | ACK), P(ACK)},
	 "CLOSE", not_listed, "IN OUT HUP RDHUP",
	 always({Queue::fin, 0, end_of_file, no_more_sends})},

	{"half-closed-first", "C shuts down, then P closes",
	 Start::connected,
	 {C_shuts_down, C_must_send(FIN | ACK), P(ACK), P_fin},
	 "CLOSE", "TIME_WAIT", "IN OUT HUP RDHUP",
	 always({Queue::fin, 0, end_of_file, no_more_sends})},

	{"refused", "the SYN is answered by an RST",
	 Start::connecting, {P(RST | ACK)},
	 "CLOSE", not_listed, all_bits,
	 always({Queue::empty, 0,
		 "ECONNREFUSED 0 0 EPIPE+SIGPIPE EPIPE+SIGPIPE",
		 "ECONNREFUSED EPIPE+SIGPIPE 0"})},

	{"unaccepted-fin", "20 bytes and FIN before accept()",
	 Start::unaccepted, {P_data(20), P_fin},
	 "CLOSE_WAIT", "CLOSE_WAIT", "IN OUT RDHUP",
	 always({Queue::payload, 20, "20 0 0 1 1", "1 1 20"})},

	{"unaccepted-rst", "20 bytes and RST before accept()",
	 Start::unaccepted, {P_data(20), P(RST)},
	 "CLOSE", not_listed, all_bits,
	 always({Queue::payload, 20,
		 "20 ECONNRESET 0 EPIPE+SIGPIPE EPIPE+SIGPIPE",
		 "ECONNRESET EPIPE+SIGPIPE 20"})},

	{"unaccepted-fin-rst", "20 bytes, FIN and RST before accept()",
	 Start::unaccepted, {P_data(20), P_fin, P(RST)},
	 "CLOSE", not_listed, all_bits, payload_reset(20, read_20, write_20)},
};

} // namespace

std::span<const Case> cases()
{
	return table;
}

} // namespace reproduce
