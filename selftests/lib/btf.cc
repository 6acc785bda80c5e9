// SPDX-License-Identifier: GPL-2.0
#include "btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <memory>
#include <string_view>

namespace selftest {

namespace {

struct FreeBtf {
	void operator()(btf *types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, FreeBtf>;

std::optional<bool> lookup(const btf *types, const char *structure,
			   std::string_view member)
{
	const __s32 id =
		btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);

	if (id < 0)
		return {};

	const btf_type *type = btf__type_by_id(types, static_cast<__u32>(id));
	const btf_member *members = btf_members(type);

	for (__u16 i = 0; i < btf_vlen(type); i++)
		if (member == btf__name_by_offset(types, members[i].name_off))
			return true;
	return false;
}

} // namespace

std::optional<bool> struct_has(const char *structure, const char *member,
			       const char *module)
{
	/* A kernel without BTF is an answer, not an error to print. */
	libbpf_set_print(nullptr);

	const Types kernel(btf__load_vmlinux_btf());

	if (!kernel)
		return {};
	if (const auto found = lookup(kernel.get(), structure, member))
		return found;
	if (!module)
		return {};

	const Types more(btf__load_module_btf(module, kernel.get()));

	return more ? lookup(more.get(), structure, member) : std::nullopt;
}

} // namespace selftest
