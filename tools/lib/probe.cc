// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <cerrno>
#include <filesystem>
#include <fcntl.h>
#include <memory>
#include <net/if.h>
#include <zlib.h>

#include "collect.h"
#include "knob.h"
#include "netdev.h"
#include "netns.h"
#include "privilege.h"
#include "proc.h"
#include "proc_parse.h"

namespace rxstall {

namespace {

struct GzClose {
	void operator()(gzFile_s *file) const { gzclose(file); }
};
struct IfFree {
	void operator()(struct if_nameindex *list) const { if_freenameindex(list); }
};

/* gzread() passes plain text through, so this reads both places a config may be in. */
std::string kernel_config(const std::string &release)
{
	for (const std::string &path : {std::string("/proc/config.gz"), "/boot/config-" + release}) {
		std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rb"));
		std::string text;
		char buffer[16 * 1024];
		int length;
		while (file && (length = gzread(file.get(), buffer, sizeof(buffer))) > 0)
			text.append(buffer, static_cast<size_t>(length));
		if (!text.empty())
			return text;
	}
	return {};
}

Maybe known(bool yes) { return yes ? Maybe::yes : Maybe::no; }

Maybe config_option(const std::string &config, const std::string &option)
{
	if (config.empty())
		return Maybe::unknown;
	return known(config.find("\n" + option + "=") != std::string::npos);
}

bool exists(const std::string &path)
{
	std::error_code error;
	return std::filesystem::exists(path, error);
}

void add_kernel_features(Snapshot &snapshot)
{
	struct Option {
		const char *name;
		const char *adds;
	};
	static constexpr Option options[] = {
		{"CONFIG_PAGE_POOL", "page pools exist at all"},
		{"CONFIG_PAGE_POOL_STATS", "counters of each pool (page-pool-stats-get)"},
		{"CONFIG_INET_DIAG", "sock_diag: live sockets need not be borrowed to be ruled out"},
		{"CONFIG_INET_DIAG_DESTROY", "`ss -K`; on CLOSE-WAIT it hides the socket and frees nothing"},
		{"CONFIG_DEBUG_INFO_BTF", "the BPF iterator: a scan tens of times faster, and exact classes"},
	};

	auto add = [&](std::string name, Maybe present, std::string adds) {
		snapshot.features.push_back({std::move(name), present, std::move(adds)});
	};
	add("tcp_purge_receive_queue", known(read_purge().has_value()),
	    "the kernel frees such queues itself when the RST comes; without it: rxstall release");
	add("BTF", known(exists("/sys/kernel/btf/vmlinux")), "the BPF iterator; without it: the walk");
	auto pools = list_pools();
	add("netdev page-pool-get", known(pools.has_value()), "pools with device, age and memory");

	for (const char *base : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
		if (!exists(std::string(base) + "/events"))
			continue;
		const std::string events = std::string(base) + "/events/";
		add("page_pool_release_stalled", known(exists(events + "page_pool/page_pool_release_stalled")),
		    "one event a minute for each stalled pool, with id and age");
		add("page_pool_release", known(exists(events + "page_pool/page_pool_release")),
		    "one event a second for each stalled pool");
		break;
	}
	add("tracefs mounted", known(exists("/sys/kernel/tracing/events")),
	    "events; where it is not, rxstall mounts it for itself only");

	const std::string config = kernel_config(snapshot.kernel);
	for (const Option &option : options)
		add(option.name, config_option(config, option.name), option.adds);
}

void add_privileges(Snapshot &snapshot)
{
	struct Need {
		cap_value_t cap;
		const char *name;
		const char *adds;
	};
	static constexpr Need needs[] = {
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "looking through and releasing others' descriptors"},
		{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "listing others' descriptors"},
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "entering network namespaces"},
		{CAP_NET_ADMIN, "CAP_NET_ADMIN", "naming a socket's namespace and protocol"},
		{CAP_BPF, "CAP_BPF", "the BPF iterator"},
		{CAP_PERFMON, "CAP_PERFMON", "the BPF iterator"},
		{CAP_SYSLOG, "CAP_SYSLOG", "the kernel log"},
	};
	for (const Need &need : needs)
		snapshot.features.push_back({need.name, known(lacking({need.cap}).empty()), need.adds});

	const std::string scope = read_file("/proc/sys/kernel/yama/ptrace_scope", 16).value_or("0");
	snapshot.features.push_back({"Yama permits ptrace", known(!scope.starts_with('3')),
				     "at ptrace_scope 3 no descriptor can be borrowed: BPF still sees"});
}

void add_nics(Snapshot &snapshot)
{
	for (const NetnsPath &entry : list_netns(NetnsSearch::processes)) {
		auto there = InNetns::enter(entry.path);
		if (!there)
			continue;
		std::unique_ptr<struct if_nameindex, IfFree> list(if_nameindex());
		for (auto *device = list.get(); device && device->if_index; device++) {
			const Driver driver = driver_of(device->if_name);
			if (!driver.name.empty())
				snapshot.nics.push_back({entry.netns.inode, device->if_name, driver.name,
							 driver.version, driver.firmware});
		}
	}
}

} // namespace

void probe_host(Snapshot &snapshot)
{
	add_kernel_features(snapshot);
	add_privileges(snapshot);
	add_nics(snapshot);
}

} // namespace rxstall
