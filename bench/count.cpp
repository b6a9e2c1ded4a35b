// SPDX-License-Identifier: BSD-3-Clause
// Forwards under one load for a given number of polls and says how many packets that were, for
// bench/instructions.py, which counts instructions from outside.
#include <charconv>
#include <cstdio>
#include <cstring>

#include "bench/loads.h"
#include "common/dpdk/eal.h"

int main(int argc, char** argv) {
  using namespace turnpike;
  unsigned polls = 0;
  const bench::Named* chosen = nullptr;
  for (const bench::Named& n : bench::kLoads)
    if (argc == 3 && std::strcmp(n.name, argv[1]) == 0) chosen = &n;
  if (chosen != nullptr) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), polls);
  if (polls == 0) {
    std::fputs("usage: bench-count LOAD POLLS; the loads are in bench/loads.h\n", stderr);
    return 2;
  }
  const auto eal = Eal::start({.program = "bench", .memory_mb = 2048});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  bench::Forwarding f(chosen->load);
  uint64_t packets = 0;
  for (unsigned i = 0; i < polls; ++i) packets += f.poll();
  std::printf("%llu\n", static_cast<unsigned long long>(packets));
}
