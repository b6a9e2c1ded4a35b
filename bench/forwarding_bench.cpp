// SPDX-License-Identifier: BSD-3-Clause
// Packets through the whole router, all checks and counters on, and beside them what the ports that
// feed it cost by themselves. One item is a packet.
#include <string>

#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "bench/loads.h"

namespace turnpike::bench {
namespace {

constexpr unsigned kWarmUp = 2000;  // bursts

template <class Step>
void measure(benchmark::State& state, const Step& step) {
  for (unsigned i = 0; i < kWarmUp; ++i) step();
  uint64_t packets = 0;
  const uint64_t begin = rte_rdtsc();
  for (auto _ : state) packets += step();
  const auto cycles = static_cast<double>(rte_rdtsc() - begin);
  state.SetItemsProcessed(static_cast<int64_t>(packets));
  state.counters["cycles"] = cycles / static_cast<double>(packets);
}

void forward(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure(state, [&] { return f.poll(); });
}

void harness(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure(state, [&] { return f.poll_ports(); });
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Named& n : kLoads) {
    benchmark::RegisterBenchmark((std::string("forward/") + n.name).c_str(), forward, n.load);
    if (std::string_view(n.name).find(':') == std::string_view::npos ||
        std::string_view(n.name).find("flows:100000") != std::string_view::npos)
      benchmark::RegisterBenchmark((std::string("harness/") + n.name).c_str(), harness, n.load);
  }
  return true;
}();

}  // namespace
}  // namespace turnpike::bench
