// SPDX-License-Identifier: BSD-3-Clause
// Packets through the whole router, all checks and counters on, and beside it the cost of the ports
// that feed it. One item is a packet.
#include <string>

#include <benchmark/benchmark.h>

#include "bench/loads.h"
#include "bench/measure.h"

namespace turnpike::bench {
namespace {

template <class Step>
void measure_warm(benchmark::State& state, const Step& step) {
  for (unsigned i = 0; i < Forwarding::kWarmUp; ++i) step();
  measure(state, step);
}

void forward(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure_warm(state, [&] { return f.poll(); });
}

void harness(benchmark::State& state, const Load& load) {
  Forwarding f(load);
  measure_warm(state, [&] { return f.poll_ports(); });
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Named& n : kLoads) {
    benchmark::RegisterBenchmark((std::string("forward/") + n.name).c_str(), forward, n.load);
    const std::string_view name = n.name;
    if (name.find(':') == name.npos || name.ends_with("flows:100000") ||
        name.ends_with("links:256"))
      benchmark::RegisterBenchmark((std::string("harness/") + n.name).c_str(), harness, n.load);
  }
  return true;
}();

}  // namespace
}  // namespace turnpike::bench
