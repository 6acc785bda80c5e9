/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on stderr for work that takes over a second, on a terminal only.
 * It is wiped when the work ends.
 */
#pragma once

#include <chrono>
#include <string>

namespace rxstall {

class Progress {
public:
	Progress(std::string what, size_t total);
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;
	~Progress();

	void step();

private:
	std::string what_;
	size_t total_;
	size_t done_ = 0;
	bool terminal_;
	bool shown_ = false;
	std::chrono::steady_clock::time_point next_;
};

} // namespace rxstall
