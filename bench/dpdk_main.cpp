// SPDX-License-Identifier: BSD-3-Clause
// Google Benchmark's main for benchmarks that need DPDK: no hugepages, devices or privileges. A
// million IPv6 routes need most of its memory; unused memory is never touched.
#include <cstdio>

#include <benchmark/benchmark.h>

#include "common/dpdk/eal.h"
#include "common/program/large_heap.h"

int main(int argc, char** argv) {
  turnpike::heap_in_large_pages();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const auto eal = turnpike::Eal::start({.program = "bench", .memory_mb = 4608});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().c_str());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
