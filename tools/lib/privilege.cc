// SPDX-License-Identifier: GPL-2.0
#include "privilege.h"

#include <memory>
#include <stdexcept>

namespace rxstall {

namespace {

struct CapFree {
	void operator()(void *caps) const { cap_free(caps); }
};
using Caps = std::unique_ptr<std::remove_pointer_t<cap_t>, CapFree>;

bool permitted(cap_t caps, cap_value_t value)
{
	cap_flag_value_t flag = CAP_CLEAR;
	return cap_get_flag(caps, value, CAP_PERMITTED, &flag) == 0 && flag == CAP_SET;
}

} // namespace

void keep_only(const std::vector<cap_value_t> &needed)
{
	Caps have(cap_get_proc());
	Caps want(cap_init());
	if (!have || !want)
		throw std::runtime_error("cannot read our capabilities");

	for (cap_value_t value : needed) {
		if (!permitted(have.get(), value))
			continue;
		cap_set_flag(want.get(), CAP_PERMITTED, 1, &value, CAP_SET);
		cap_set_flag(want.get(), CAP_EFFECTIVE, 1, &value, CAP_SET);
	}
	if (cap_set_proc(want.get()) != 0)
		throw std::runtime_error("cannot drop capabilities");
}

std::vector<std::string> lacking(const std::vector<cap_value_t> &needed)
{
	Caps have(cap_get_proc());
	std::vector<std::string> names;
	for (cap_value_t value : needed) {
		if (have && permitted(have.get(), value))
			continue;
		std::unique_ptr<char, CapFree> text(cap_to_name(value));
		names.emplace_back(text ? text.get() : "?");
	}
	return names;
}

} // namespace rxstall
