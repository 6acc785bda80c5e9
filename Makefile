# SPDX-License-Identifier: GPL-2.0
#
# The front door. Every target that has a line after ## is in `make help`.

LINE  ?=
KSRC  ?=
DEBUG ?=
STOCK ?=
CONFIG ?=
export QUICK SOCKETS PACKETDRILL LINE KSRC DEBUG STOCK CONFIG

vm := selftests/vm

.DEFAULT_GOAL := help
.PHONY: help deps kernel patch check tools selftests install-selftests demo test
.PHONY: test-matrix test-deb kernel-deb deb install mutants storm packetdrill fuzz bench clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'
	@sed -n 's/^#= \(.*\)/\1/p' $(MAKEFILE_LIST)

#=
#= LINE=6.12   kernel line: one of the folders in patches/
#= DEBUG=1     kernel with KASAN, PROVE_LOCKING and other checks
#= STOCK=1     kernel without the patches
#= CONFIG=file configuration to start from, by default that of the running kernel
#= QUICK=1     a few repetitions, to see that it works
#= KSRC=tree   a kernel tree of yours instead of Debian's sources
#= All output goes to build/, kernels to build/LINE[-stock][-debug]/bzImage.

deps: ## install the Debian packages that are missing; not as root: say which
	@$(vm)/deps

kernel: deps ## build a kernel: [LINE=6.12] [DEBUG=1] [STOCK=1] [KSRC=tree]
	@$(vm)/build-kernel

patch: ## put the series into a kernel tree of yours: KSRC=tree [LINE=6.12]
	@patches/apply "$$KSRC" $${LINE:+"$$LINE"}

check: deps ## would the series apply and compile: [KSRC=tree] [LINE=6.12]
	@patches/check --build $${LINE:+--line "$$LINE"} $${KSRC:+"$$KSRC"}

tools: deps ## build rxstall
	@$(MAKE) --no-print-directory -C tools O=$(abspath build/tools)

selftests: deps ## build the kselftests and reproduce
	@$(MAKE) --no-print-directory -C selftests O=$(abspath build/selftests)

install-selftests: ## put the kselftests into a kernel tree of yours: KSRC=tree
	@$(vm)/install-selftests "$$KSRC"

demo: deps ## show the incident and its cure in a virtual machine
	@$(vm)/demo

test: deps ## run every test, on the patched kernel and on a stock one: [LINE=6.12]
	@$(vm)/test

test-matrix: deps ## run the selftests on the kernels of all lines, or of one: [LINE=6.1]
	@$(vm)/test-matrix $${LINE:+"$$LINE"}

kernel-deb: deps ## Debian packages of a patched kernel: [LINE=6.12] [CONFIG=file] [KSRC=tree]
	@$(vm)/kernel-deb

test-deb: deps ## build such packages, install them in a directory, boot them: [LINE=6.12]
	@$(vm)/test-deb

deb: deps ## build the Debian packages rxstall and tcp-purge-patches in build/deb/
	@tools/packaging/deb

install: tools ## install rxstall and its units: [PREFIX=/usr/local] [DESTDIR=]
	@$(MAKE) --no-print-directory -C tools O=$(abspath build/tools) install

mutants: deps ## break the patches on purpose: which test notices? [DEBUG=1]
	@$(vm)/mutants

storm: deps ## random segments and calls: [SECONDS=60] [SEED=number] [DEBUG=1]
	@$(vm)/storm $(if $(SECONDS),--seconds "$(SECONDS)") $(if $(SEED),--seed "$(SEED)")

packetdrill: deps ## the scripts, by packetdrill itself: PACKETDRILL=program
	@$(vm)/packetdrill

fuzz: tools ## feed rxstall's parsers random bytes: [SECONDS=60]
	@$(MAKE) --no-print-directory -C tools O=$(abspath build/tools) fuzz $(if $(SECONDS),SECONDS=$(SECONDS))

bench: deps ## what patches and rxstall cost and save, measured, half an hour: [QUICK=1] [SOCKETS=100000]
	@$(vm)/bench

clean: ## remove build/, but for the kernel sources fetched into build/download
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name download -exec rm -rf {} +
