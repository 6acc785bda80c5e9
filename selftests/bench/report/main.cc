// SPDX-License-Identifier: GPL-2.0
/*
 * Makes tables out of what the measuring programs printed.
 *
 *	report tables DIRECTORY FILE...		prints the tables of the records in
 *		the files; DIRECTORY gets bench.json and a gnuplot program for each
 *	report write JSON README...		puts the tables of bench.json in the
 *		place of those between the marks of the README files
 *	report check JSON README...		says if a README's tables are others
 *
 * A table NAME stands between the lines "<!-- bench NAME -->" and
 * "<!-- end of bench -->". Exit status: 1 if something failed or differs, 2 for
 * wrong usage.
 */
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "bench/report/records.h"

namespace {

using namespace bench;
using Words = std::vector<std::string>;

std::string contents_of(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	text << file.rdbuf();
	if (!file)
		throw std::runtime_error("cannot read " + path);
	return text.str();
}

void write_file(const std::string &path, const std::string &text)
{
	std::ofstream file(path);

	if (!(file << text << std::flush))
		throw std::runtime_error("cannot write " + path);
}

Records read_records(const Words &paths)
{
	Records records;

	for (const std::string &path : paths) {
		std::istringstream text(contents_of(path));

		for (std::string line; std::getline(text, line);)
			records.push_back(Json::parse(line));
	}
	return records;
}

void make_tables(const Words &arguments)
{
	const std::string directory = arguments.at(0) + '/';
	const Records records =
		read_records({arguments.begin() + 1, arguments.end()});
	Json all = Json::array();

	for (const auto make : {cost_table, held_table, freedom_table, log_table,
				scan_table, release_table}) {
		const Table table = make(records);

		std::cout << to_text(table);
		write_file(directory + table.name + ".gnuplot", to_gnuplot(table));
		all.push_back(to_json(table));
	}
	write_file(directory + "bench.json", all.dump(1, '\t') + '\n');
}

/** The tables of a bench.json, and their summary. */
std::vector<Table> read_tables(const std::string &path)
{
	std::vector<Table> tables;

	for (const Json &json : Json::parse(contents_of(path)))
		tables.push_back(table_from(json));
	tables.push_back(summary_of(tables));
	return tables;
}

std::string markdown_of(const std::vector<Table> &tables, const std::string &name)
{
	for (const Table &table : tables)
		if (table.name == name)
			return to_markdown(table);
	throw std::runtime_error("there is no table " + name);
}

/** @text with what @tables say between its marks. */
std::string with_tables(const std::string &text,
			const std::vector<Table> &tables)
{
	const std::string begin = "<!-- bench ", end = "<!-- end of bench -->";
	std::istringstream in(text);
	std::string out;
	bool inside = false;

	for (std::string line; std::getline(in, line);) {
		if (inside && line != end)
			continue;
		inside = false;
		out += line + '\n';
		if (!line.starts_with(begin))
			continue;
		const std::string name = line.substr(
			begin.size(), line.find(' ', begin.size()) - begin.size());

		out += markdown_of(tables, name);
		inside = true;
	}
	if (inside)
		throw std::runtime_error("a mark of a table has no end");
	return out;
}

void write_readmes(const Words &arguments)
{
	const auto tables = read_tables(arguments.at(0));

	for (std::size_t i = 1; i < arguments.size(); i++)
		write_file(arguments[i],
			   with_tables(contents_of(arguments[i]), tables));
}

void check_readmes(const Words &arguments)
{
	const auto tables = read_tables(arguments.at(0));

	for (std::size_t i = 1; i < arguments.size(); i++) {
		const std::string text = contents_of(arguments[i]);

		if (with_tables(text, tables) != text)
			throw std::runtime_error(fmt::format(
				"{}: a table is not what {} says; make bench "
				"writes it", arguments[i], arguments[0]));
		if (text.find("<!-- bench ") == text.npos)
			throw std::runtime_error(arguments[i] +
						 " has no mark for a table");
	}
}

struct Verb {
	const char *name;
	void (*run)(const Words &);
};

constexpr Verb verbs[] = {{"tables", make_tables},
			  {"write", write_readmes},
			  {"check", check_readmes}};

} // namespace

int main(int argc, char **argv)
try {
	const Words words(argv + 1, argv + argc);

	for (const Verb &verb : verbs)
		if (words.size() >= 3 && words[0] == verb.name) {
			verb.run({words.begin() + 1, words.end()});
			return 0;
		}
	std::cerr << "usage: report tables DIRECTORY FILE... | report write JSON "
		     "README... | report check JSON README...\n";
	return 2;
} catch (const std::exception &error) {
	std::cerr << "report: " << error.what() << '\n';
	return 1;
}
