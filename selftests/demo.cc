// SPDX-License-Identifier: GPL-2.0
/*
 * The incident and its cure, as a table. For each value of the sysctl, once with
 * only a FIN in the queues and once with unread payload: a peer closes and
 * resets idle connections, the device below them goes away, and its page_pool
 * can be freed or not. The contract says which; the exit status is 1 if a row
 * differs from it.
 */
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "lib/checked.h"
#include "lib/cpu.h"
#include "lib/netns.h"
#include "lib/sysctl.h"
#include "lib/tcp_socket.h"
#include "lib/trace.h"
#include "lib/veth.h"

namespace {

using namespace selftest;
using Clock = std::chrono::steady_clock;
using std::chrono::duration;

constexpr int connections = 8;
constexpr std::size_t payload = 3000;
constexpr int watch_s = 10;
/* page_pool_release_retry() runs once a second. */
constexpr double prompt_s = 2;

/** One row of the table, with a pair of namespaces and a pool of its own. */
struct Row {
	int value;		/* of the sysctl */
	std::size_t bytes;	/* unread in each queue, in front of the FIN */

	Netns peer = Netns::create();
	Netns receiver = Netns::create();
	std::vector<TcpSocket> sockets{};
	std::set<std::string> states{};
	std::uint32_t rmem = 0;

	Clock::time_point removed{};
	std::string pool{};
	std::int64_t pages = 0;
	std::optional<double> freed_s{};
	bool held = true;	/* still, when the watch ended */
	std::vector<std::string> lines{};
	std::set<std::string> reads{};

	[[nodiscard]] bool purges() const
	{
		return value == 1 || (value == 2 && bytes == 0);
	}
	[[nodiscard]] bool prompt() const
	{
		return !held && *freed_s <= prompt_s;
	}
	[[nodiscard]] const char *kind() const
	{
		return bytes ? "payload unread" : "FIN only";
	}
	/** What the contract lets the application read. */
	[[nodiscard]] std::string expected_reads() const
	{
		if (!bytes)
			return "end of file";
		return purges() ? "ECONNRESET, then end of file"
				: fmt::format("{} bytes, then end of file", bytes);
	}
	[[nodiscard]] bool as_promised() const
	{
		return purges() == (rmem == 0) && purges() == prompt() &&
		       purges() != held &&
		       states == std::set<std::string>{"CLOSE"} &&
		       reads == std::set<std::string>{expected_reads()};
	}
};

using Rows = std::vector<std::unique_ptr<Row>>;

std::string joined(const std::set<std::string> &parts)
{
	std::string text;

	for (const std::string &part : parts)
		text += (text.empty() ? "" : " or ") + part;
	return text;
}

/** Gives each event to the row whose pool it is about. */
void take_events(Trace &trace, const Rows &rows)
{
	for (const TraceEvent &event : trace.read()) {
		for (const auto &row : rows) {
			if (row->freed_s || row->pool.empty() ||
			    event.fields.at("page_pool") != row->pool)
				continue;
			row->lines.push_back(event.line);
			if (event.number("inflight") == 0)
				row->freed_s = duration<double>(
					Clock::now() - row->removed).count();
			break;
		}
	}
}

/** Removes the link and learns from the first event which pool it had. */
void remove_link(Row &row, VethLink &link, Trace &trace, const Rows &rows)
{
	take_events(trace, rows);
	link.remove();
	row.removed = Clock::now();
	for (const TraceEvent &event : trace.read()) {
		row.pool = event.fields.at("page_pool");
		row.pages = event.number("inflight");
		row.lines.push_back(event.line);
		if (row.pages == 0)
			row.freed_s = 0;
	}
	if (row.pool.empty())
		throw std::runtime_error("no page_pool was destroyed with the "
					 "link: this kernel's veth has none");
}

void run(Row &row, Trace &trace, const Rows &rows)
{
	VethLink link(row.peer, row.receiver);
	int error;

	{
		const auto inside = row.receiver.enter();

		error = sysctl_write(purge_sysctl, std::to_string(row.value));
	}
	if (error && error != ENOENT)
		fail(error, std::string(purge_sysctl));

	for (int i = 0; i < connections; i++) {
		row.sockets.emplace_back(abandoned_connection(
			link, row.peer, row.receiver, {row.bytes, true}));
		const Facts facts = row.sockets.back().facts();

		row.states.insert(state_name(facts.state));
		row.rmem += facts.rmem;
	}
	remove_link(row, link, trace, rows);
}

bool all_freed(const Rows &rows)
{
	for (const auto &row : rows)
		if (!row->freed_s)
			return false;
	return true;
}

void watch(Trace &trace, const Rows &rows, std::chrono::seconds limit)
{
	const auto end = Clock::now() + limit;

	while (!all_freed(rows) && Clock::now() < end) {
		::poll(nullptr, 0, 50);
		take_events(trace, rows);
	}
}

std::string in_words(const Outcome &outcome)
{
	if (outcome.value == 0)
		return "end of file";
	return outcome.value < 0 ? errno_name(outcome.error)
				 : fmt::format("{} bytes", outcome.value);
}

void read_all(Row &row)
{
	for (TcpSocket &socket : row.sockets) {
		std::string text = in_words(socket.recv(65536));

		if (text != "end of file")
			text += ", then " + in_words(socket.recv(65536));
		row.reads.insert(text);
	}
}

void print(const Rows &rows)
{
	const char *const format =
		"{:<7}{:<16}{:<10}{:>7}{:>7}  {:<23}{}{}\n";

	fmt::print(fmt::runtime(format), "sysctl", "in the queues", "sockets",
		   "rmem", "pages", "pool", "the application reads", "");
	for (const auto &row : rows)
		fmt::print(fmt::runtime(format), row->value, row->kind(),
			   fmt::format("{} {}", row->sockets.size(),
				       joined(row->states)),
			   row->rmem, row->pages,
			   row->held
				   ? fmt::format("still held after {} s", watch_s)
				   : fmt::format("freed after {:.1f} s",
						 *row->freed_s),
			   joined(row->reads),
			   row->as_promised() ? "" : "  <- not as promised");

	fmt::print("\nThe kernel's own account, first and last event of each pool:\n");
	for (const auto &row : rows) {
		fmt::print("  {} {}:\n    {}\n", row->value, row->kind(),
			   row->lines.front());
		if (row->lines.size() > 1)
			fmt::print("    {}\n", row->lines.back());
	}
}

int demo()
{
	stay_on_this_cpu();

	Trace trace({"page_pool/page_pool_release"});
	Rows rows;

	for (int value = 0; value <= 2; value++)
		for (const std::size_t bytes : {std::size_t{0}, payload}) {
			rows.push_back(std::make_unique<Row>(Row{value, bytes}));
			run(*rows.back(), trace, rows);
		}
	watch(trace, rows, std::chrono::seconds(watch_s));

	for (const auto &row : rows) {
		row->held = !row->freed_s;
		read_all(*row);
	}
	print(rows);
	for (const auto &row : rows)
		row->sockets.clear();
	watch(trace, rows, std::chrono::seconds(5));

	bool promised = all_freed(rows);

	for (const auto &row : rows)
		promised = promised && row->as_promised();
	fmt::print("\n{}\n", promised
		? "As promised: 0 holds the pages until the sockets are closed; "
		  "1 frees them and reports lost payload;\n"
		  "2 frees them where nothing was unread, and loses nothing."
		: "NOT as promised: see the rows that are marked, or the pools "
		  "that stayed after every socket was closed.");
	return promised ? 0 : 1;
}

} // namespace

int main()
try {
	return demo();
} catch (const std::exception &error) {
	std::fprintf(stderr, "demo: %s\n", error.what());
	return 1;
}
