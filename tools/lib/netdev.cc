// SPDX-License-Identifier: GPL-2.0
#include "netdev.h"

#include <cerrno>
#include <cstring>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <memory>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "fd.h"
#include "netdev_parse.h"

namespace rxstall {

namespace {

struct MnlClose {
	void operator()(mnl_socket *nl) const { mnl_socket_close(nl); }
};

template <class T>
struct Answers {
	std::optional<T> (*parse)(std::span<const uint8_t>);
	std::vector<T> items;
};

template <class T>
int on_message(const nlmsghdr *header, void *data)
{
	auto &answers = *static_cast<Answers<T> *>(data);
	const size_t length = mnl_nlmsg_get_payload_len(header);
	if (length < sizeof(genlmsghdr))
		return MNL_CB_OK;
	const auto *payload = static_cast<const uint8_t *>(mnl_nlmsg_get_payload(header));
	auto item = answers.parse({payload + sizeof(genlmsghdr), length - sizeof(genlmsghdr)});
	if (item)
		answers.items.push_back(std::move(*item));
	return MNL_CB_OK;
}

/* One request of the family and all its answers. */
template <class T>
Result<std::vector<T>> ask(mnl_socket *nl, uint16_t family, uint8_t command, uint16_t flags,
			   const char *name, std::optional<T> (*parse)(std::span<const uint8_t>))
{
	std::vector<uint8_t> buffer(64 * 1024);
	nlmsghdr *header = mnl_nlmsg_put_header(buffer.data());
	header->nlmsg_type = family;
	header->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
	header->nlmsg_seq = command;
	auto *generic = static_cast<genlmsghdr *>(mnl_nlmsg_put_extra_header(header, sizeof(genlmsghdr)));
	generic->cmd = command;
	generic->version = 1;
	if (name)
		mnl_attr_put_strz(header, CTRL_ATTR_FAMILY_NAME, name);
	if (mnl_socket_sendto(nl, header, header->nlmsg_len) < 0)
		return failure(errno, "netdev request");

	Answers<T> answers{parse, {}};
	for (;;) {
		const ssize_t length = mnl_socket_recvfrom(nl, buffer.data(), buffer.size());
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return failure(errno, "netdev answer");
		const int status = mnl_cb_run(buffer.data(), static_cast<size_t>(length), command,
					      mnl_socket_get_portid(nl), on_message<T>, &answers);
		if (status < 0)
			return failure(errno, "netdev answer");
		if (status == MNL_CB_STOP)
			return std::move(answers.items);
	}
}

} // namespace

Driver driver_of(const std::string &device)
{
	Fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	ethtool_drvinfo info{};
	ifreq request{};
	info.cmd = ETHTOOL_GDRVINFO;
	if (!fd || device.empty() || device.size() >= sizeof(request.ifr_name))
		return {};
	std::memcpy(request.ifr_name, device.c_str(), device.size());
	request.ifr_data = reinterpret_cast<char *>(&info);
	if (ioctl(fd.get(), SIOCETHTOOL, &request) != 0)
		return {};
	auto text = [](const char *field, size_t size) { return std::string(field, strnlen(field, size)); };
	return {text(info.driver, sizeof(info.driver)), text(info.version, sizeof(info.version)),
		text(info.fw_version, sizeof(info.fw_version))};
}

Result<std::vector<Pool>> list_pools()
{
	std::unique_ptr<mnl_socket, MnlClose> nl(mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC));
	if (!nl || mnl_socket_bind(nl.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		return failure(errno, "generic netlink socket");

	auto family = ask<uint16_t>(nl.get(), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK, "netdev",
				    parse_family_id);
	if (!family)
		return tl::unexpected(family.error());
	if (family->empty())
		return failure(ENOENT, "netdev family");
	auto pools = ask<Pool>(nl.get(), family->front(), netdev_cmd_page_pool_get, NLM_F_DUMP, nullptr,
			       parse_pool_answer);
	if (!pools)
		return pools;
	for (Pool &pool : *pools) {
		char device[IF_NAMESIZE] = "";
		if (pool.ifindex && if_indextoname(pool.ifindex, device))
			pool.device = device;
		pool.driver = driver_of(pool.device).name;
	}
	return pools;
}

} // namespace rxstall
