// SPDX-License-Identifier: BSD-3-Clause
// Common to all benchmarks of timers: the number of timers, the order of use, and the due times.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/kept.h"
#include "common/units/units.h"

namespace turnpike::bench {

/// Drawn beforehand, the same for every implementation. Delays are uniform up to 100 ms. With more
/// timers the bound grows, so that the slowest implementation can fire them by the real clock.
class TimerDraws {
 public:
  explicit TimerDraws(size_t count) {
    constexpr uint64_t kSpread = 100'000'000, kSpreadEach = 7000;  // ns; 3.5 us between two
    const uint64_t most = std::max<uint64_t>(kSpread, count * kSpreadEach);
    std::mt19937_64 random(1);
    delays_.reserve(kDraws);
    places_.reserve(kDraws);
    for (size_t i = 0; i < kDraws; ++i) {
      delays_.emplace_back(static_cast<int64_t>(1 + random() % most));
      places_.push_back(static_cast<uint32_t>(random() % count));
    }
  }
  Nanos delay() { return delays_[draw_++ % kDraws]; }
  size_t place() { return places_[draw_++ % kDraws]; }

 private:
  static constexpr size_t kDraws = (1 << 17) - 1;  // odd: delays and indices alternate
  std::vector<Nanos> delays_;
  std::vector<uint32_t> places_;
  size_t draw_ = 0;
};

inline void timer_counts(benchmark::internal::Benchmark* b) {
  b->ArgName("timers")->RangeMultiplier(10)->Range(1000, 1'000'000);
}

/// The bed with as many timers as the benchmark's argument says.
template <class Bed>
Bed& bed_for(const benchmark::State& state) {
  return kept<Bed>(static_cast<size_t>(state.range(0)));
}

}  // namespace turnpike::bench
