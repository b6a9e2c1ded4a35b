// SPDX-License-Identifier: BSD-3-Clause
// The price history: a record and a look-up one round trip time back, per packet.
#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "common/time/time_series.h"

namespace turnpike {
namespace {

// Argument: ns between packets.
void record_and_look_up(benchmark::State& state) {
  const Nanos gap(state.range(0));
  TimeSeries<> series;
  Nanos now{0};
  double price = 0;
  for (; now < 3_s; now += 100_us) series.record(now, price += 1);
  bench::measure(state, [&] {
    now += gap;
    series.record(now, price += 1);
    benchmark::DoNotOptimize(series.at(now, 80'000'000));
    return 1U;
  });
}
BENCHMARK(record_and_look_up)
    ->Name("time_series/record_at")
    ->ArgName("gap_ns")
    ->Arg(100)
    ->Arg(12'000)
    ->Arg(10'000'000);

}  // namespace
}  // namespace turnpike
