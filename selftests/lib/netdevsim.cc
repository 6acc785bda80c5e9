// SPDX-License-Identifier: GPL-2.0
#include "netdevsim.h"

#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include "checked.h"
#include "interface.h"
#include "ktap.h"
#include "left.h"
#include "unique_fd.h"

namespace selftest {

namespace {

const std::string bus = "/sys/bus/netdevsim/";

void write_file(const std::string &path, const std::string &text)
{
	const unique_fd fd(check(::open(path.c_str(), O_WRONLY | O_CLOEXEC),
				 path.c_str()));

	check(::write(fd.get(), text.data(), text.size()), path.c_str());
}

std::string name_of(int ifindex)
{
	char name[IF_NAMESIZE];

	if (!::if_indextoname(static_cast<unsigned>(ifindex), name))
		fail(errno, "netdevsim's interface");
	return name;
}

/** The namespace has nothing but lo and the device. */
int only_interface()
{
	constexpr unsigned loopback = 1;
	int found = 0;
	struct if_nameindex *const all = ::if_nameindex();

	if (!all)
		fail(errno, "if_nameindex");
	for (const struct if_nameindex *one = all; one->if_index; one++)
		if (one->if_index != loopback)
			found = static_cast<int>(one->if_index);
	::if_freenameindex(all);
	if (!found)
		fail(ENODEV, "netdevsim made no interface");
	return found;
}

} // namespace

/* The bus is one for all namespaces: the process id keeps tests apart. */
Netdevsim::Netdevsim() : id_(netdevsim_id())
{
	if (::access((bus + "new_device").c_str(), F_OK))
		throw Skip("this kernel has no netdevsim");
	write_file(bus + "new_device", id_ + " 1 1");
	ifindex_ = only_interface();
}

Netdevsim::~Netdevsim()
{
	try {
		remove();
	} catch (const std::exception &) {
		/* A destructor has nobody to tell. */
	}
}

void Netdevsim::up()
{
	interface_up(name_of(ifindex_), true);
}

void Netdevsim::down()
{
	interface_up(name_of(ifindex_), false);
}

void Netdevsim::hold_page(bool hold)
{
	const std::string path =
		"/sys/kernel/debug/netdevsim/netdevsim" + id_ + "/ports/0";

	if (!::access(path.c_str(), F_OK) &&
	    ::access((path + "/pp_hold").c_str(), F_OK))
		throw Skip("netdevsim of this kernel has no page_pool (pp_hold)");
	write_file(path + "/pp_hold", hold ? "y" : "n");
}

void Netdevsim::remove()
{
	if (!id_.empty())
		write_file(bus + "del_device", id_);
	id_.clear();
}

} // namespace selftest
