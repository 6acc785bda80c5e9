// SPDX-License-Identifier: GPL-2.0
#include "storm_calls.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <sys/mman.h>

#include "lib/checked.h"

namespace storm {

namespace {

/* The pipe holds all of a stream, so that it never is what ends a call. */
Outcome splice_once(const TcpSocket &app, std::size_t size, int wait)
{
	int ends[2];

	check(::pipe2(ends, O_CLOEXEC), "pipe2");
	const unique_fd out(ends[0]), in(ends[1]);
	Outcome outcome = outcome_of([&] {
		return ::splice(app.fd(), nullptr, in.get(), nullptr, size,
				wait ? SPLICE_F_NONBLOCK : 0);
	});

	if (outcome.value > 0) {
		outcome.data.resize(static_cast<std::size_t>(outcome.value));
		check(::read(out.get(), outcome.data.data(), outcome.data.size()),
		      "read from the pipe");
	}
	return outcome;
}

/** A page's worth of address space that TCP_ZEROCOPY_RECEIVE may fill. */
class Mapping {
public:
	explicit Mapping(const TcpSocket &app)
		: at_(::mmap(nullptr, length, PROT_READ, MAP_SHARED, app.fd(), 0))
	{
		if (at_ == MAP_FAILED)
			fail(errno, "mmap of the socket");
	}
	~Mapping() { ::munmap(at_, length); }
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	[[nodiscard]] const char *get() const
	{
		return static_cast<const char *>(at_);
	}
	static constexpr std::size_t length = 4096;

private:
	void *at_;
};

Seen zerocopy_once(const TcpSocket &app, std::size_t size)
{
	const Mapping mapping(app);
	std::string copies(size, '\0');
	tcp_zerocopy_receive zc{};
	socklen_t length = sizeof(zc);
	Seen seen;

	zc.address = reinterpret_cast<std::uintptr_t>(mapping.get());
	zc.length = Mapping::length;
	zc.copybuf_address = reinterpret_cast<std::uintptr_t>(copies.data());
	zc.copybuf_len = static_cast<int>(size);
	seen.outcome = outcome_of([&] {
		return ::getsockopt(app.fd(), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
				    &zc, &length);
	});
	if (seen.outcome.error)
		return seen;
	seen.value_error = -zc.err;
	seen.mapped = zc.length;
	seen.outcome.data = std::string(mapping.get(), zc.length);
	if (zc.copybuf_len > 0)
		seen.outcome.data +=
			copies.substr(0, static_cast<std::size_t>(zc.copybuf_len));
	seen.outcome.value = static_cast<ssize_t>(seen.outcome.data.size());
	return seen;
}

Seen of_outcome(Outcome outcome)
{
	return {std::move(outcome), 0, 0};
}

/* Where TCP has no SO_PEEK_OFF there is nothing to move. */
void set_peek_offset(const TcpSocket &app, int offset)
{
	if (::setsockopt(app.fd(), SOL_SOCKET, SO_PEEK_OFF, &offset,
			 sizeof(offset)) && errno != EOPNOTSUPP)
		fail(errno, "SO_PEEK_OFF");
}

} // namespace

Seen make_call(TcpSocket &app, const Step &step, int wait)
{
	switch (step.act) {
	case Act::recv:
		return of_outcome(app.recv(step.size, step.flags | wait));
	case Act::oob:
		return of_outcome(app.recv(step.size, step.flags | MSG_OOB | wait));
	case Act::splice:
		return of_outcome(splice_once(app, step.size, wait));
	case Act::zerocopy:
		return zerocopy_once(app, step.size);
	case Act::send:
		return of_outcome(app.send(step.size, step.flags | MSG_DONTWAIT));
	case Act::so_error:
		return {{}, app.take_so_error(), 0};
	case Act::low_water:
		app.set(SOL_SOCKET, SO_RCVLOWAT, static_cast<int>(step.size));
		return {};
	case Act::peek_offset:
		set_peek_offset(app, static_cast<int>(step.at));
		return {};
	default:
		(void)app.facts();
		return {};
	}
}

int peek_offset_of(const TcpSocket &app)
{
	int offset = -1;
	socklen_t length = sizeof(offset);

	if (::getsockopt(app.fd(), SOL_SOCKET, SO_PEEK_OFF, &offset, &length) &&
	    errno != EOPNOTSUPP)
		fail(errno, "SO_PEEK_OFF");
	return offset;
}

std::int64_t bytes_received(const TcpSocket &app)
{
	tcp_info info{};
	socklen_t length = sizeof(info);

	check(::getsockopt(app.fd(), IPPROTO_TCP, TCP_INFO, &info, &length),
	      "TCP_INFO");
	return static_cast<std::int64_t>(info.tcpi_bytes_received);
}

} // namespace storm
