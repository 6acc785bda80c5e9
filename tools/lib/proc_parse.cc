// SPDX-License-Identifier: GPL-2.0
#include "proc_parse.h"

#include <algorithm>

#include "text.h"

namespace rxstall {

namespace {

/* 64 hexadecimal digits, as every container engine names its groups. */
std::string container_in(std::string_view component)
{
	constexpr size_t id_length = 64;
	auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };

	if (component.ends_with(".scope"))
		component.remove_suffix(6);
	if (component.size() < id_length)
		return {};
	const std::string_view id = component.substr(component.size() - id_length);
	if (!std::all_of(id.begin(), id.end(), is_hex))
		return {};
	return "container:" + std::string(id.substr(0, 12));
}

std::string unit_in(std::string_view path)
{
	std::string unit;
	while (!path.empty()) {
		const std::string_view component = next_field(path, '/');
		if (std::string container = container_in(component); !container.empty())
			return container;
		if (component.ends_with(".service") || component.ends_with(".scope"))
			unit = component;
	}
	return unit;
}

/* mountinfo writes blanks and backslashes in octal. */
std::string unescape_octal(std::string_view text)
{
	auto digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
	std::string out;
	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) &&
		    digit(i + 3)) {
			out += static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
						 (text[i + 3] - '0'));
			i += 3;
		} else {
			out += text[i];
		}
	}
	return out;
}

} // namespace

std::string parse_cgroup(std::string_view text)
{
	/* lines are id:controllers:path; id 0 is the unified hierarchy */
	std::string best;
	while (!text.empty()) {
		std::string_view line = next_field(text, '\n');
		next_field(line, ':');
		next_field(line, ':');
		std::string unit = unit_in(line);
		if (unit.starts_with("container:"))
			return unit;
		if (best.empty())
			best = unit;
	}
	return best;
}

SockstatTcp parse_sockstat(std::string_view text)
{
	SockstatTcp out;
	while (!text.empty()) {
		const auto words = split_words(next_field(text, '\n'));
		if (words.empty() || (words[0] != "TCP:" && words[0] != "TCP6:"))
			continue;
		for (size_t i = 1; i + 1 < words.size(); i += 2) {
			const uint64_t value = parse_number<uint64_t>(words[i + 1]).value_or(0);
			if (words[i] == "inuse")
				out.inuse = value;
			else if (words[i] == "alloc")
				out.alloc = value;
			else if (words[i] == "mem")
				out.mem_pages = value;
		}
	}
	return out;
}

uint64_t parse_scm_fds(std::string_view text)
{
	while (!text.empty()) {
		const auto words = split_words(next_field(text, '\n'));
		if (words.size() == 2 && words[0] == "scm_fds:")
			return parse_number<uint64_t>(words[1]).value_or(0);
	}
	return 0;
}

UringFiles parse_uring_files(std::string_view text)
{
	UringFiles found;
	bool files = false;
	while (!text.empty()) {
		const auto words = split_words(next_field(text, '\n'));
		if (words.empty())
			continue;
		if (words[0] == "UserFiles:") {
			files = true;
			continue;
		}
		/* the next section starts with a name, a file with "  3: " */
		if (words[0].front() < '0' || words[0].front() > '9')
			files = false;
		if (!files || words.size() < 2)
			continue;
		if (auto inode = parse_socket_link(words[1]))
			found.inodes.push_back(*inode);
		found.unnamed += words[1] == "TCP" || words[1] == "TCPv6" || words[1] == "MPTCP";
	}
	return found;
}

std::vector<std::string> parse_netns_mounts(std::string_view text)
{
	std::vector<std::string> paths;
	while (!text.empty()) {
		/* id parent major:minor root mountpoint options... */
		const auto words = split_words(next_field(text, '\n'));
		if (words.size() > 4 && words[3].starts_with("net:["))
			paths.push_back(unescape_octal(words[4]));
	}
	return paths;
}

std::optional<uint64_t> parse_socket_link(std::string_view text)
{
	if (!text.starts_with("socket:[") || !text.ends_with(']'))
		return std::nullopt;
	return parse_number<uint64_t>(text.substr(8, text.size() - 9));
}

} // namespace rxstall
