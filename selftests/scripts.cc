// SPDX-License-Identifier: GPL-2.0
/*
 * Plays the scripts in packetdrill/, for which packetdrill itself is not needed:
 * the hand-built peer sends what the script does, and compares what comes. Times
 * are not waited for, and not compared.
 */
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "lib/checked.h"
#include "lib/ktap.h"
#include "lib/peer.h"
#include "scripts_read.h"

namespace {

using namespace selftest;
using namespace scripts;
namespace fs = std::filesystem;

/* packetdrill's IPv6 tests have room for the same MSS. */
int mtu_for(Family family)
{
	return family == Family::v6 ? 1520 : 1500;
}

/* "POLLIN|POLLHUP" */
std::string poll_names(int bits)
{
	std::istringstream words(poll_text(bits));
	std::string names;

	for (std::string word; words >> word;)
		names += (names.empty() ? "POLL" : "|POLL") + word;
	return names;
}

class Player {
public:
	Player(Family family, fs::path folder)
		: family_(family), folder_(std::move(folder)),
		  wire_(mtu_for(family))
	{
	}

	void operator()(const Shell &shell) const;
	void operator()(const Packet &packet);
	void operator()(const Call &call);
	void operator()(const State &state);
	void finish();

private:
	void inbound(const Packet &packet);
	void outbound(const Packet &packet);
	Outcome outcome_of_call(const Call &call);
	void socket_option(const Call &call);
	void look(const Call &call);

	Family family_;
	fs::path folder_;
	Wire wire_;
	std::optional<Listener> listener_;
	std::unique_ptr<Peer> peer_;
	std::optional<TcpSocket> app_;
};

void Player::operator()(const Shell &shell) const
{
	const std::string command = "exec 2>&1\ncd '" + folder_.string() +
				    "' || exit\n" + shell.commands;
	std::unique_ptr<std::FILE, int (*)(std::FILE *)> output(
		::popen(command.c_str(), "re"), ::pclose);
	std::string said;

	if (!output)
		fail(errno, "popen");
	/* Written by itself, it would end up in the middle of a line of KTAP. */
	for (int c; (c = std::getc(output.get())) != EOF;)
		said += static_cast<char>(c);

	const int status = ::pclose(output.release());

	expect(status == 0, fmt::format("the commands end with status {}: {}",
					status, said));
}

void Player::operator()(const Packet &packet)
{
	if (packet.inbound)
		inbound(packet);
	else
		outbound(packet);
}

/* What the kernel has sent must all be in the script. */
void Player::inbound(const Packet &packet)
{
	if (packet.flags & SYN) {
		expect(packet.options == "mss 1000,nop,wscale 7",
		       "a SYN with these options is not known here");
		peer_ = wire_.begin_open(listener_.value(),
					 {.window = packet.window.value(),
					  .mss = 1000,
					  .wscale = std::uint8_t{7}});
		return;
	}
	Draft draft = bare(packet.flags).at(packet.seq - 1);

	expect(!peer_->has_arrivals(), "the kernel sends what is not expected");
	draft.length = packet.length;
	if (packet.ack)
		draft.acking(*packet.ack - 1);
	peer_->send(draft.window(packet.window.value()));
}

void Player::outbound(const Packet &packet)
{
	const Segment segment = peer_->expect(
		"a segment", [](const Segment &) { return true; });
	const Logged logged{false, segment};

	expect_eq(flags_text(segment.flags), flags_text(packet.flags), "flags");
	expect_eq(segment.payload.size(), packet.length, "length");
	expect_eq(peer_->seq_position(logged) + 1, packet.seq, "sequence number");
	if (packet.ack)
		expect_eq(peer_->ack_position(logged) + 1, *packet.ack, "ack");
	if (packet.options.empty())
		return;
	expect(packet.options == "mss 1460,nop,wscale 8",
	       "a SYN-ACK with these options is not known here");
	expect_eq(int{segment.options.mss.value_or(0)}, 1460, "mss");
	expect_eq(int{segment.options.wscale.value_or(0)}, 8, "wscale");
}

Outcome Player::outcome_of_call(const Call &call)
{
	const auto size = std::stoul(call.arguments.at(2));
	const std::string flags =
		call.arguments.size() > 3 ? call.arguments[3] : "";

	if (call.name == "read")
		return app_->recv(size);
	if (call.name == "recv" && flags == "MSG_PEEK")
		return app_->recv(size, MSG_PEEK | MSG_DONTWAIT);
	if (call.name == "send" && flags == "MSG_NOSIGNAL")
		return app_->send(size, MSG_NOSIGNAL | MSG_DONTWAIT);
	throw std::runtime_error("a call that is not known here");
}

void Player::socket_option(const Call &call)
{
	expect(call.arguments.at(2) == "SO_ERROR", "only SO_ERROR is known here");

	const int error = app_->take_so_error();

	expect_eq('[' + (error ? errno_name(error) : "0") + ']',
		  call.arguments.at(3), "SO_ERROR");
}

/* ioctl() and poll(). */
void Player::look(const Call &call)
{
	if (call.name == "ioctl") {
		int unread = 0;

		check(::ioctl(app_->fd(), SIOCINQ, &unread), "SIOCINQ");
		expect_eq(fmt::format("[{}]", unread), call.arguments.at(2),
			  "SIOCINQ");
		return;
	}
	/* facts() asks for these, and for POLLPRI. */
	expect_eq("[{fd=4, events=POLLIN|POLLOUT|POLLRDHUP, revents=" +
			  poll_names(app_->facts().poll) + "}]",
		  call.arguments.at(0), "poll()");
}

void Player::operator()(const Call &call)
{
	/* The listener is the test kit's, it does all of this. */
	if (call.name == "socket" || call.name == "setsockopt" ||
	    call.name == "bind")
		return;
	if (call.name == "listen")
		listener_.emplace(family_);
	else if (call.name == "accept")
		app_ = listener_.value().accept();
	else if (call.name == "getsockopt")
		socket_option(call);
	else if (call.name == "ioctl" || call.name == "poll")
		look(call);
	else
		expect_eq(to_string(outcome_of_call(call)),
			  call.value < 0 ? call.error
					 : std::to_string(call.value),
			  call.name + "()");
}

void Player::operator()(const State &state)
{
	expect_eq(state_name(app_->facts().state), state.name, "the state");
}

void Player::finish()
{
	expect(!peer_->has_arrivals(), "the kernel sends more than the script");
}

void play(const fs::path &script, Family family)
{
	std::ostringstream text;

	text << std::ifstream(script).rdbuf();
	Player player(family, script.parent_path());
	std::size_t done = 0;

	for (const Event &event : read_script(text.str())) {
		try {
			std::visit(player, event.what);
		} catch (const std::exception &error) {
			throw Unmet(fmt::format("{}:{}: {}: {}",
						script.filename().string(),
						event.line, event.text,
						error.what()));
		}
		done++;
	}
	expect(done > 0, "the script has no events");
	player.finish();
}

/* Each script starts shells, which a kernel with KASAN does slowly. */
constexpr int shells_timeout_s = 300;

/* Beside the program in a kernel tree; else we are started at the top. */
fs::path folder(const char *program)
{
	for (const fs::path &path :
	     {fs::path(program).parent_path() / "packetdrill",
	      fs::path("selftests/packetdrill")})
		if (fs::is_directory(path))
			return fs::absolute(path);
	throw std::runtime_error("no folder packetdrill beside the program, and "
				 "no selftests/packetdrill");
}

std::vector<Test> all(const fs::path &folder)
{
	const std::string prefix = "tcp_purge_receive_queue_";
	std::vector<fs::path> scripts;
	std::vector<Test> tests;

	for (const fs::directory_entry &entry : fs::directory_iterator(folder))
		if (entry.path().extension() == ".pkt")
			scripts.push_back(entry.path());
	std::sort(scripts.begin(), scripts.end());
	for (const fs::path &script : scripts)
		for (const Family family :
		     {Family::v4, Family::v6, Family::mapped})
			tests.push_back(
				{.name = script.stem().string().substr(
						 prefix.size()) +
					 '/' + to_string(family),
				 .needs = Needs::purge_sysctl,
				 .run = [=] { play(script, family); },
				 .timeout_s = shells_timeout_s});
	return tests;
}

} // namespace

int main(int argc, char **argv)
try {
	return ktap_main(argc, argv, all(folder(argv[0])));
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
	return 1;
}
