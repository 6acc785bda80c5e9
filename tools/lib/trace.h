/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracefs instance of our own: nobody else's tracing is touched, and it
 * is removed when the object goes. Where tracefs is not mounted it is
 * mounted in a mount namespace of ours, so the host sees no change.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fd.h"
#include "result.h"

namespace rxstall {

class [[nodiscard]] Trace {
public:
	/*
	 * Also removes instances that an earlier run of this program had to leave
	 * behind because it was killed. Errors: EPERM, ENODEV without tracefs.
	 */
	static Result<Trace> open();

	/* Switches one event on. False if this kernel lacks it or refuses the filter. */
	bool enable(const char *system, const char *event, const char *filter = nullptr);

	/* False once somebody has switched off the instance or an event of it. */
	bool on() const;

	/* Whole lines that have arrived; empty if none. Never blocks. */
	std::vector<std::string> read_lines();

	/* For poll(2). */
	int fd() const { return pipe_.get(); }

private:
	/* The instance's directory; removing it removes all the kernel made for it. */
	class Instance {
	public:
		Instance(Fd parent, std::string path) : parent_(std::move(parent)), path_(std::move(path)) {}
		Instance(const Instance &) = delete;
		Instance &operator=(const Instance &) = delete;
		Instance(Instance &&other) = default;
		Instance &operator=(Instance &&) = delete;
		~Instance();

		bool write(const std::string &file, const std::string &text) const;
		const std::string &path() const { return path_; }

	private:
		Fd parent_;	/* the directory of instances, which may be unmounted meanwhile */
		std::string path_;
	};

	Trace(Instance instance, Fd pipe) : instance_(std::move(instance)), pipe_(std::move(pipe)) {}
	void watch_switch(const std::string &file);

	Instance instance_;	/* the last to go: it cannot be removed while its files are open */
	Fd pipe_;
	std::vector<Fd> switches_;	/* files that read 1 while all is on */
	std::string rest_;	/* the start of a line whose end has not come */
};

} // namespace rxstall
