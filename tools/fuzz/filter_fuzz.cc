// SPDX-License-Identifier: GPL-2.0
#include <cstdlib>

#include "lib/filter.h"
#include "lib/text.h"

using namespace rxstall;

/* One word a line; messages must be safe to print. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::string_view text(reinterpret_cast<const char *>(data), size);
	std::vector<std::string> words;
	while (!text.empty())
		words.emplace_back(next_field(text, '\n'));
	for (const std::string &word : words) {
		(void)parse_state(word);
		(void)parse_span(word);
		(void)parse_number<int64_t>(word);
	}
	auto filter = parse_filter({}, words);
	if (!filter)
		for (unsigned char c : filter.error().text)
			if (c < 0x20 || c > 0x7e)
				std::abort();
	return 0;
}
