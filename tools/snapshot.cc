// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/collect.h"
#include "lib/facts_json.h"
#include "lib/fd.h"
#include "lib/text.h"
#include "options.h"
#include "verbs.h"

namespace rxstall {

namespace {

Result<void> write_all(int fd, std::string_view text)
{
	while (!text.empty()) {
		const ssize_t length = write(fd, text.data(), text.size());
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return failure(errno, "cannot write the snapshot");
		text.remove_prefix(static_cast<size_t>(length));
	}
	return {};
}

/* A complete file or none: written beside it under another name, then renamed. */
Result<void> save(const std::string &file, const std::string &text)
{
	std::string temporary = file + ".XXXXXX";
	Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
	if (!fd)
		return failure(errno, "cannot create '" + escape(file) + "'");
	auto written = write_all(fd.get(), text);
	if (written && fsync(fd.get()) != 0)
		written = failure(errno, "cannot write the snapshot");
	if (written && rename(temporary.c_str(), file.c_str()) != 0)
		written = failure(errno, "cannot create '" + escape(file) + "'");
	if (!written)
		unlink(temporary.c_str());
	return written;
}

} // namespace

int verb_snapshot(int argc, char **argv)
{
	CLI::App app{"Save all facts this host gives, without any payload, for `--from FILE` on any "
		     "machine. The file is readable by you alone; '-' prints it.", "rxstall snapshot"};
	std::string file, method;
	double listen = 2;

	app.add_option("file", file, "where to save it")->required()->type_name("FILE");
	add_method_option(app, method);
	app.add_option("--listen", listen, "seconds to listen for pool events (default 2)")
		->check(CLI::Range(0.0, 3600.0));
	if (auto status = parse(app, argc, argv))
		return *status;

	CollectRequest request;
	request.states = all_states;
	request.method = method;
	request.host = true;
	request.pools = true;
	request.listen = listen;
	auto snapshot = collect(request);
	if (!snapshot)
		return fail(snapshot.error());
	print_notes(*snapshot);

	const std::string text = dump(to_json(*snapshot), true) + "\n";
	if (file == "-")
		return print(text);
	auto saved = save(file, text);
	return saved ? static_cast<int>(exit_done) : fail(saved.error());
}

} // namespace rxstall
