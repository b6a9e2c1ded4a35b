// SPDX-License-Identifier: BSD-3-Clause
// Packets through the whole router, all checks and counters on, and beside them what the ports that
// feed it cost by themselves. One item is a packet.
#include <barrier>
#include <memory>
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
  state.counters["cycles"] =
      benchmark::Counter(cycles / static_cast<double>(packets), benchmark::Counter::kAvgThreads);
}

void forward(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure(state, [&] { return f.poll(); });
}

/// Every thread polls a worker of its own, all of which send to the same links. Items per second
/// are of all of them together, by the clock on the wall; cycles are a worker's.
void forward_together(benchmark::State& state, const Load& load) {
  static std::unique_ptr<Forwarding> shared;
  static std::barrier ready(2);
  const auto worker = static_cast<unsigned>(state.thread_index());
  if (worker == 0) shared = std::make_unique<Forwarding>(load);
  ready.arrive_and_wait();
  Forwarding& f = *shared;
  measure(state, [&] { return f.poll(worker); });
  ready.arrive_and_wait();
  if (worker == 0) shared.reset();
}

void harness(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure(state, [&] { return f.poll_ports(); });
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Named& n : kLoads) {
    benchmark::RegisterBenchmark((std::string("forward/") + n.name).c_str(), forward, n.load);
    const std::string_view name = n.name;
    if (name.find(':') == name.npos || name.ends_with("flows:100000") ||
        name.ends_with("links:256"))
      benchmark::RegisterBenchmark((std::string("harness/") + n.name).c_str(), harness, n.load);
  }
  for (const Named& n : {Named{"ipv4", {.traffic = Traffic::kIpv4, .workers = 2}},
                         Named{"priced", {.traffic = Traffic::kPriced, .flows = 64, .workers = 2}}})
    benchmark::RegisterBenchmark((std::string("forward_together/") + n.name).c_str(),
                                 forward_together, n.load)
        ->Threads(2)
        ->UseRealTime();
  return true;
}();

}  // namespace
}  // namespace turnpike::bench
