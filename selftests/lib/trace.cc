// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "checked.h"
#include "left.h"

namespace selftest {

namespace {

const std::string tracefs = "/sys/kernel/tracing";

std::string event_dir(const std::string &root, std::string_view system,
		      std::string_view name)
{
	return root + "/events/" + std::string(system) + "/" + std::string(name);
}

void write_text(const std::string &path, const std::string &text)
{
	unique_fd fd(check(::open(path.c_str(), O_WRONLY | O_CLOEXEC),
			   path.c_str()));

	check(::write(fd.get(), text.data(), text.size()), path.c_str());
}

void enable(const std::string &root, const std::string &spec)
{
	const auto slash = spec.find('/');
	const auto colon = spec.find(':');
	const std::string dir =
		event_dir(root, spec.substr(0, slash),
			  spec.substr(slash + 1, colon - slash - 1));

	if (colon != std::string::npos)
		write_text(dir + "/filter", spec.substr(colon + 1));
	write_text(dir + "/enable", "1");
}

} // namespace

std::int64_t TraceEvent::number(const std::string &field) const
{
	const auto found = fields.find(field);

	if (found == fields.end())
		throw std::out_of_range("no field " + field + " in: " + line);
	return std::stoll(found->second, nullptr, 0);
}

TraceEvent parse_trace_line(std::string_view line)
{
	TraceEvent event{std::string(line), "", 0, {}};
	/* The command may have ": " in its name, the time stamp has not. */
	const auto cpu = line.find(" [");
	const auto time = cpu == line.npos ? cpu : line.find(": ", cpu);

	if (time == line.npos)
		return event;

	const auto end = line.find(": ", time + 2);

	if (end == line.npos)
		return event;
	event.name = line.substr(time + 2, end - time - 2);
	event.seconds = std::strtod(
		event.line.c_str() + line.rfind(' ', time - 1) + 1, nullptr);

	std::istringstream words{std::string(line.substr(end + 2))};
	std::string word;

	while (words >> word)
		if (const auto equal = word.find('='); equal != word.npos)
			event.fields[word.substr(0, equal)] =
				word.substr(equal + 1);
	return event;
}

Trace::Trace(const std::vector<std::string> &events, Addresses addresses,
	     Stamps stamps)
	: path_(trace_instance_template())
{
	if (!::mkdtemp(path_.data()))
		fail(errno, path_);
	try {
		if (stamps == Stamps::jiffies)
			write_text(path_ + "/trace_clock", "uptime");
		for (const std::string &spec : events)
			enable(path_, spec);
		write_text(path_ + "/options/hash-ptr",
			   addresses == Addresses::hashed ? "1" : "0");
		const std::string pipe = path_ + "/trace_pipe";

		pipe_.reset(check(::open(pipe.c_str(),
					 O_RDONLY | O_NONBLOCK | O_CLOEXEC),
				  pipe.c_str()));
	} catch (...) {
		::rmdir(path_.c_str());
		throw;
	}
}

Trace::~Trace()
{
	pipe_.reset();
	::rmdir(path_.c_str());
}

bool Trace::has_event(std::string_view system, std::string_view name)
{
	return ::access(event_dir(tracefs, system, name).c_str(), F_OK) == 0;
}

std::string Trace::format(std::string_view system, std::string_view name)
{
	const std::string path = event_dir(tracefs, system, name) + "/format";
	std::ifstream file(path);
	std::ostringstream text;

	text << file.rdbuf();
	if (!file)
		fail(errno, path);
	return text.str();
}

std::vector<TraceEvent> Trace::read()
{
	std::vector<TraceEvent> events;
	char buffer[4096];
	ssize_t n;

	while ((n = ::read(pipe_.get(), buffer, sizeof(buffer))) > 0)
		partial_.append(buffer, static_cast<std::size_t>(n));
	if (n < 0 && errno != EAGAIN)
		fail(errno, "read trace_pipe");

	std::size_t start = 0, end;

	while ((end = partial_.find('\n', start)) != std::string::npos) {
		events.push_back(parse_trace_line(
			std::string_view(partial_).substr(start, end - start)));
		start = end + 1;
	}
	partial_.erase(0, start);
	return events;
}

} // namespace selftest
