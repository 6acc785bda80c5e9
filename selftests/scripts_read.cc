// SPDX-License-Identifier: GPL-2.0
#include "scripts_read.h"

#include <regex>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/segment.h"

namespace scripts {

namespace {

/* A line of its own, or what a time stands before, up to the next of either. */
struct Piece {
	std::size_t line;
	std::string text;
};

std::vector<Piece> pieces_of(const std::string &text)
{
	static const std::regex timed("\\s*\\+?[0-9.]+\\s+(.*)");
	std::istringstream lines(text);
	std::vector<Piece> pieces;
	std::string line;
	bool in_shell = false;

	for (std::size_t number = 1; std::getline(lines, line); number++) {
		std::smatch match;

		if (in_shell) {
			pieces.back().text += '\n' + line;
		} else if (line.empty() || line.starts_with("//")) {
			continue;
		} else if (line.starts_with('`')) {
			pieces.push_back({number, line});
		} else if (std::regex_match(line, match, timed)) {
			pieces.push_back({number, match[1]});
		} else if (!pieces.empty()) {
			pieces.back().text +=
				' ' + line.substr(line.find_first_not_of(" \t"));
			continue;
		} else {
			pieces.push_back({number, line});
		}
		const std::string &last = pieces.back().text;

		in_shell = last.starts_with('`') &&
			   (last.size() < 2 || last.back() != '`');
	}
	return pieces;
}

std::uint16_t flags_of(const std::string &letters)
{
	using namespace selftest;
	std::uint16_t flags = 0;

	for (const char letter : letters)
		flags |= letter == 'S'	 ? SYN
			 : letter == 'F' ? FIN
			 : letter == 'R' ? RST
			 : letter == 'P' ? PSH
					 : ACK;
	return flags;
}

/* Splits at commas that no bracket encloses. */
std::vector<std::string> arguments_of(const std::string &text)
{
	std::vector<std::string> arguments(1);
	int depth = 0;

	for (const char c : text) {
		depth += (c == '[' || c == '{') - (c == ']' || c == '}');
		if (c == ',' && depth == 0)
			arguments.emplace_back();
		else if (c != ' ' || !arguments.back().empty())
			arguments.back() += c;
	}
	return arguments;
}

std::variant<Shell, Packet, Call, State> parse(const std::string &text)
{
	static const std::regex shell("`([^`]*)`");
	static const std::regex packet("([<>]) ([SFRP.]+) (\\d+):(\\d+)\\((\\d+)\\)"
				       "(?: ack (\\d+))?(?: win (\\d+))?"
				       "(?: <([^>]*)>)?");
	static const std::regex call("(\\w+)\\((.*)\\) = (-?\\d+)"
				     "(?: (E[A-Z]+) \\([^)]*\\))?");
	static const std::regex state("%\\{ assert tcpi_state == TCP_(\\w+), "
				      "tcpi_state \\}%");
	std::smatch m;

	if (std::regex_match(text, m, shell))
		return Shell{m[1]};
	if (std::regex_match(text, m, state))
		return State{m[1]};
	if (std::regex_match(text, m, packet)) {
		Packet p{m[1] == "<", flags_of(m[2]), std::stoll(m[3]),
			 std::stoll(m[4]), std::stoul(m[5]), {}, {}, m[8]};

		if (m[6].matched)
			p.ack = std::stoll(m[6]);
		if (m[7].matched)
			p.window = static_cast<std::uint16_t>(std::stoul(m[7]));
		return p;
	}
	if (std::regex_match(text, m, call))
		return Call{m[1], arguments_of(m[2]), std::stoll(m[3]), m[4]};
	throw std::runtime_error("cannot read: " + text);
}

} // namespace

std::vector<Event> read_script(const std::string &text)
{
	std::vector<Event> events;

	for (const Piece &piece : pieces_of(text))
		try {
			events.push_back({piece.line, piece.text,
					  parse(piece.text)});
		} catch (const std::exception &error) {
			throw std::runtime_error(fmt::format(
				"line {}: {}", piece.line, error.what()));
		}
	return events;
}

} // namespace scripts
