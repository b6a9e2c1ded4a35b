# SPDX-License-Identifier: BSD-3-Clause
# Targets for users; meson does the work. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all compile parse setup build benchmarks bench bench-testpmd bench-check lint fuzz \
  fuzz-coverage format hooks docker package package-test image-test \
  appliance-test appliance-page-test engines-test nic-test clean
MAKEFLAGS += --no-print-directory

FUZZ_SECONDS ?= 600
# Where ccache is installed, meson calls it. With these, clones of the tree share what it keeps.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

# GCC collects garbage for a tenth of its time, which it need not where each CPU has 6 GB.
GCC_HEAP := $(shell awk '/^MemTotal/ && $$2 > 6000000 * '$$(nproc)' {print "--param=ggc-min-heapsize=4000000"}' \
  /proc/meminfo)

# quiet(what,command): prints `what`, writes the command's output to a log, and names the log if the command fails.
# Prints the duration from 10 s on.
quiet = @mkdir -p build/log; echo "$@: $(1)"; from=$$(date +%s); \
  ( $(2) ) >build/log/$@.log 2>&1 || { rc=$$?; tail -n 25 build/log/$@.log; \
    echo "$@ failed; all of its output: build/log/$@.log"; exit $$rc; }; \
  took=$$(($$(date +%s) - from)); [ $$took -lt 10 ] || echo "$@: took $$took s"

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-19s %s\n", $$1, $$2}' Makefile

demo: build  ## build, then run the main job: three hosts pay for a shared bottleneck
	@build/lab/turnpike demo

test: setup build  ## install what is missing, build, run the tests of that build
	@tests/run

# Only CI treats warnings as errors, so that a newer compiler's warnings do not stop a user. An existing build/ stays
# as it was configured.
test-all: CONFIGURE = --werror
test-all: setup build  ## also under sanitizers, the fuzz targets, instructions per packet, lint
	@tests/run --all

setup:  ## install the packages of packages.txt that are missing
	$(call quiet,packages of packages.txt: installing what is missing,docker/install-packages build test)

build:  ## install what the build needs, configure, compile into build/
	$(call quiet,compiling into build/,\
	  docker/install-packages build && \
	  { [ -f build/build.ninja ] || meson setup build -Dcpp_args="-g1 $(GCC_HEAP)" $(CONFIGURE); } && ninja -C build)

compile:  ## compile the packet path with GCC, not optimized, and run the tests of common/dpdk
	$(call quiet,compiling with GCC into build-gcc/,tests/compile gcc $(GCC_HEAP))

parse:  ## have clang parse every file by itself: missing includes, and warnings of other versions of clang
	$(call quiet,clang over all files,tests/compile clang)

benchmarks: build  ## compile the benchmarks, too
	$(call quiet,compiling into build/bench/,ninja -C build benchmarks)

bench: setup benchmarks  ## run the benchmarks, write bench/results/HOST-DATE.json
	@bench/run.py

bench-testpmd: setup benchmarks  ## cycles per packet of router and sender beside dpdk-testpmd, over the same ports
	@bench/compare_testpmd.py

bench-check: setup build  ## compare instructions per packet with the committed ones
	@bench/instructions.py

lint: setup build  ## check layout (clang-format), spelling (codespell) and words, run static analysis (clang-tidy)
	@tests/lint

fuzz: setup  ## run every fuzz target for FUZZ_SECONDS (600) each
	@tests/run --fuzz-only $(FUZZ_SECONDS)

fuzz-coverage: setup  ## coverage of the fuzz targets per folder, over seeds and the corpus of `make fuzz`
	@tests/run --fuzz-only 1
	@tests/fuzz/coverage

format: setup  ## lay out the code with clang-format
	@tests/lint --format

hooks:  ## make git check the subject and the layout of every commit, in this clone
	@git config core.hooksPath hooks && echo "hooks: git calls hooks/commit-msg and hooks/pre-commit"

docker:  ## build the runtime image
	$(call quiet,building the image turnpike,docker build -t turnpike -f docker/Dockerfile .)

package:  ## build the Debian packages into build/packages/
	$(call quiet,building turnpike and turnpike-doc into build/packages/,\
	  docker/install-packages build package && tests/packages/build build/packages)

package-test: package  ## lint the packages; install, upgrade, remove and purge them where systemd is PID 1 (as root)
	@docker/install-packages build package && tests/packages/package_test.py

image-test:  ## build the image without a daemon, run the two containers of docker/compose.yaml (as root)
	@docker/install-packages package && tests/packages/image_test.py

appliance-test: setup build  ## FRR and keepalived over the router, and a storm of routes, between network namespaces (as root)
	@docker/install-packages appliance
	@tests/appliance/frr_test.py build/router/turnpike-router build/lab/turnpike
	@tests/appliance/vrrp_test.py build/router/turnpike-router
	@tests/appliance/storm_test.py build/router/turnpike-router build/lab/turnpike --long

appliance-page-test: setup  ## run every command of docs/appliance.md on a bare machine, a container (as root)
	@docker/install-packages build package appliance && tests/appliance/page_test.py

engines-test: setup build  ## sweeps by Slurm and by GNU parallel, killed and continued; a run over ssh (as root)
	@docker/install-packages engines && tests/sweep/engines_test.py build/lab/turnpike
	@tests/netns/machines_test.py build/lab/turnpike

nic-test: build  ## router and sender over drivers of real NICs, which QEMU emulates; needs neither KVM nor root
	@docker/install-packages emulation
	@tests/nic/nic_test.py build/router/turnpike-router build/sender/turnpike-sender build/lab/turnpike
	@tests/nic/page_test.py build/router/turnpike-router build/sender/turnpike-sender build/lab/turnpike

clean:  ## remove everything that was built
	@rm -rf build build-sanitize build-fuzz build-gcc build-clang build-thread && echo "clean: done"
