/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a file so that a reader finds the old content or the new one, and
 * never a part.
 */
#pragma once

#include <string>
#include <sys/types.h>

#include "result.h"

namespace rxstall {

/*
 * Writes a temporary file in the same folder, with that mode whatever the
 * umask, syncs and renames it (rename(2)). On failure nothing is left behind.
 * Errors: those of the calls, with the file's name escaped.
 */
[[nodiscard]] Result<void> save_file(const std::string &file, const std::string &text, mode_t mode);

} // namespace rxstall
