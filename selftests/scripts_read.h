// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a packetdrill script: as much of the language as those in packetdrill/
 * use. A line that is none of it is an error which names the line, so nothing in
 * a script is passed over.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scripts {

/** Commands for the shell; the script fails if they do. */
struct Shell {
	std::string commands;
};

/** `< P. 1:1001(1000) ack 1 win 257 <options>`; numbers as in the script. */
struct Packet {
	bool inbound = false;		/**< to the kernel */
	std::uint16_t flags = 0;	/**< selftest::Flag */
	std::int64_t seq = 0;
	std::int64_t end = 0;
	std::size_t length = 0;
	std::optional<std::int64_t> ack;
	std::optional<std::uint16_t> window;
	std::string options;
};

/** `read(4, ..., 2000) = -1 ECONNRESET (...)`. */
struct Call {
	std::string name;
	std::vector<std::string> arguments;
	std::int64_t value = 0;
	std::string error;		/**< "" when there is none */
};

/** `%{ assert tcpi_state == TCP_CLOSE, tcpi_state }%`. */
struct State {
	std::string name;		/**< "CLOSE" */
};

struct Event {
	std::size_t line = 0;		/**< of the script, from 1 on */
	std::string text;
	std::variant<Shell, Packet, Call, State> what;
};

/** Throws std::runtime_error with the number of the line it cannot read. */
std::vector<Event> read_script(const std::string &text);

} // namespace scripts
