// SPDX-License-Identifier: GPL-2.0
#include "save.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "text.h"

namespace rxstall {

namespace {

bool write_all(int fd, std::string_view text)
{
	while (!text.empty()) {
		const ssize_t length = write(fd, text.data(), text.size());
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return false;
		text.remove_prefix(static_cast<size_t>(length));
	}
	return true;
}

} // namespace

Result<void> save_file(const std::string &file, const std::string &text, mode_t mode)
{
	std::string temporary = file + ".XXXXXX";
	Fd fd(mkostemp(temporary.data(), O_CLOEXEC));
	if (!fd)
		return failure(errno, "cannot create '" + escape(file) + "'");
	if (write_all(fd.get(), text) && fchmod(fd.get(), mode) == 0 && fsync(fd.get()) == 0 &&
	    rename(temporary.c_str(), file.c_str()) == 0)
		return {};
	const int error = errno;
	unlink(temporary.c_str());
	return failure(error, "cannot write '" + escape(file) + "'");
}

} // namespace rxstall
