// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_ZEROCOPY_RECEIVE with pages that really are mapped: a mapping outlives
 * the purge, the call does not trust a stale copied_seq, and a segment that is
 * mapped to its end counts as read.
 */
#include <fcntl.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/checked.h"
#include "lib/counters.h"
#include "lib/ktap.h"
#include "lib/loopback.h"
#include "lib/scenario.h"

namespace {

using namespace selftest;

std::size_t page_size()
{
	return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/**
 * Sends whole pages that the receiver's kernel can map: those of a pipe, which
 * splice() hands on as they are. Returns once they are acknowledged, so that
 * they are no clones any more.
 */
void send_pages(TcpSocket &peer, std::size_t count)
{
	const std::string bytes = pattern(0, count * page_size());
	int ends[2], waiting = 1;

	check(::pipe(ends), "pipe");
	const unique_fd out(ends[0]), in(ends[1]);

	check(::write(in.get(), bytes.data(), bytes.size()), "write to the pipe");
	expect_eq(check(::splice(out.get(), nullptr, peer.fd(), nullptr,
				 bytes.size(), 0), "splice to the socket"),
		  static_cast<ssize_t>(bytes.size()), "bytes sent");
	for (int tries = 0; waiting; tries++) {
		expect(tries < 2000, "the pages are acknowledged");
		check(::ioctl(peer.fd(), TIOCOUTQ, &waiting), "SIOCOUTQ");
		::poll(nullptr, 0, 1);
	}
}

/** A mapping that TCP_ZEROCOPY_RECEIVE fills. */
class Mapping {
public:
	Mapping(const TcpSocket &app, std::size_t pages)
		: length_(pages * page_size()),
		  start_(::mmap(nullptr, length_, PROT_READ, MAP_SHARED, app.fd(),
				0))
	{
		if (start_ == MAP_FAILED)
			fail(errno, "mmap of the socket");
	}
	~Mapping() { ::munmap(start_, length_); }
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	/** Pages mapped, and the error that came along: "1", "0+ECONNRESET". */
	std::string receive(const TcpSocket &app)
	{
		tcp_zerocopy_receive zc{};
		socklen_t length = sizeof(zc);

		zc.address = reinterpret_cast<std::uintptr_t>(start_);
		zc.length = static_cast<std::uint32_t>(length_);
		if (::getsockopt(app.fd(), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
				 &zc, &length))
			return errno_name(errno);
		return std::to_string(zc.length / page_size()) +
		       (zc.err ? "+" + errno_name(-zc.err) : "");
	}

	[[nodiscard]] bool shows_from(std::int64_t position) const
	{
		return std::string(static_cast<const char *>(start_), length_) ==
		       pattern(position, length_);
	}

private:
	std::size_t length_;
	void *start_;
};

/** One page is mapped, another is unread when the RST comes. */
void mapped_page_outlives_the_purge(Purge value)
{
	set_purge(value);
	auto [app, peer] = loopback_pair();
	Mapping first(app, 1), second(app, 1);

	send_pages(peer, 2);
	expect_eq(first.receive(app), "1", "pages mapped");
	expect(first.shows_from(0), "the first page has its bytes");
	finish(peer, app);
	reset(peer, app);
	expect_eq(app.facts().rmem == 0, value == Purge::flush,
		  "whether nothing is held");
	expect(first.shows_from(0), "the first page still has its bytes");
	expect_eq(second.receive(app),
		  value == Purge::flush ? "0+ECONNRESET" : "1+EPIPE",
		  "pages mapped after the RST");
	if (value != Purge::flush)
		expect(second.shows_from(static_cast<std::int64_t>(page_size())),
		       "the second page has its bytes");
	expect_eq(second.receive(app), value == Purge::flush ? "0" : "EIO",
		  "pages mapped then");
}

/**
 * All is mapped, so all is read, but the segment stays because its FIN is not:
 * it has length and no unread payload (tcp_recv_skb()).
 */
void mapped_segment_with_fin(Purge value)
{
	set_purge(value);
	auto [app, peer] = loopback_pair();
	Mapping mapping(app, 1);

	send_pages(peer, 1);
	finish(peer, app);
	expect_eq(mapping.receive(app), "1", "pages mapped");
	expect(app.facts().rmem > page_size(), "the segment is still held");

	const Counters before = Counters::read();

	reset(peer, app);
	expect_eq(app.facts().rmem == 0, value != Purge::off,
		  "whether nothing is held");
	expect(mapping.shows_from(0), "the page has its bytes");
	expect_counted(before, value != Purge::off, 0);
	expect_eq(two_reads(app), "0 0", "recv");
	expect_eq(errno_name(app.take_so_error()), "EPIPE", "SO_ERROR");
}

std::vector<Test> all()
{
	std::vector<Test> tests;

	for (const Purge value : purge_values) {
		const std::string prefix = std::string(to_string(value)) + '/';

		tests.push_back({prefix + "mapped_page_outlives_the_purge",
				 Needs::purge_sysctl,
				 [value] { mapped_page_outlives_the_purge(value); },
				 value != Purge::flush});
		tests.push_back({prefix + "mapped_segment_with_fin",
				 Needs::purge_sysctl,
				 [value] { mapped_segment_with_fin(value); },
				 value == Purge::off});
	}
	return tests;
}

} // namespace

int main(int argc, char **argv)
{
	return ktap_main(argc, argv, all());
}
