// SPDX-License-Identifier: BSD-3-Clause
// Histograms: the cost of a value to the writer, and of a copy to a reader.
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "common/metrics/histogram.h"

namespace turnpike::metrics {
namespace {

// Round trip times in ns, 80 ms give or take a quarter.
std::vector<uint64_t> values() {
  std::mt19937_64 random(1);
  std::vector<uint64_t> out(4096);
  for (uint64_t& v : out) v = 60'000'000 + random() % 40'000'000;
  return out;
}

template <class H>
void record(benchmark::State& state) {
  const auto v = values();
  const auto h = std::make_unique<H>();
  size_t i = 0;
  bench::measure(state, [&] {
    h->record(v[i++ % v.size()]);
    return 1U;
  });
}
BENCHMARK(record<Histogram>)->Name("histogram/record");
BENCHMARK(record<SharedHistogram>)->Name("histogram/record_shared");

void copy(benchmark::State& state) {
  const auto live = std::make_unique<SharedHistogram>();
  for (const uint64_t v : values()) live->record(v);
  bench::measure(state, [&] {
    const auto h = std::make_unique<Histogram>();
    h->merge(*live);
    benchmark::DoNotOptimize(h->quantile(0.99));
    return 1U;
  });
}
BENCHMARK(copy)->Name("histogram/copy_p99");

}  // namespace
}  // namespace turnpike::metrics
