/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces: finding them and being in one for a while.
 */
#pragma once

#include <optional>
#include <sys/types.h>
#include <vector>

#include "facts.h"
#include "fd.h"
#include "result.h"

namespace rxstall {

struct NetnsPath {
	Netns netns;
	std::string path;	/* what to open to enter it */
};

/* Where to look: the threads of each process, too, costs one call a thread. */
enum class NetnsSearch : uint8_t { processes, threads };

/*
 * The namespaces that processes live in or that are mounted somewhere
 * visible, each once, our own first.
 */
[[nodiscard]] std::vector<NetnsPath> list_netns(NetnsSearch search);

/*
 * The number that the calling thread's namespace alone has, until the next boot
 * (SO_NETNS_COOKIE); inode numbers are given again. 0 if there is none.
 */
[[nodiscard]] uint64_t netns_cookie();

/*
 * While it lives, the calling thread is in another network namespace. Its
 * end brings the thread back; should the kernel refuse that, the program
 * stops rather than go on in the wrong one.
 */
class [[nodiscard]] InNetns {
public:
	/* Errors: EPERM without CAP_SYS_ADMIN there, ENOENT if it has gone. */
	static Result<InNetns> enter(const std::string &path);
	/* As above; ENOENT also if another namespace is there by now. */
	static Result<InNetns> enter(const NetnsPath &place);

	InNetns(const InNetns &) = delete;
	InNetns &operator=(const InNetns &) = delete;
	InNetns(InNetns &&) = default;
	InNetns &operator=(InNetns &&) = delete;
	~InNetns();

private:
	explicit InNetns(Fd home) : home_(std::move(home)) {}
	static Result<InNetns> enter(const std::string &path, std::optional<ino_t> expected);

	Fd home_;
};

} // namespace rxstall
