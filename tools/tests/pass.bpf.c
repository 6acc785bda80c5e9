// SPDX-License-Identifier: GPL-2.0
/* XDP_PASS: with it on a veth, received segments sit in page-pool memory. */
__attribute__((section("xdp"), used))
int pass(void *ctx)
{
	(void)ctx;
	return 2;
}

char LICENSE[] __attribute__((section("license"), used)) = "GPL";
