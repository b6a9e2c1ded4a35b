// SPDX-License-Identifier: BSD-3-Clause
// DPDK's timers under the loads of bench/timer_wheel_bench.cpp. They use the real clock.
#include <benchmark/benchmark.h>

#include "bench/dpdk_timers.h"
#include "bench/measure.h"
#include "bench/timer_draws.h"

namespace turnpike::bench::dpdk_timers {
namespace {

class Bed {
 public:
  explicit Bed(size_t count)
      : draws_(count),
        cycles_per_ns_(static_cast<double>(DpdkTimers::hz()) * 1e-9),
        timers_(count) {
    for (size_t i = 0; i < count; ++i) arm(i);
  }

  void arm(size_t i) {
    const auto delay = static_cast<double>(draws_.delay().count());
    timers_.arm(i, static_cast<uint64_t>(delay * cycles_per_ns_), fire, this);
  }
  void stop(size_t i) { timers_.stop(i); }
  size_t any() { return draws_.place(); }
  [[nodiscard]] size_t size() const { return timers_.size(); }
  [[nodiscard]] uint64_t fired() const { return fired_; }

 private:
  static void fire(rte_timer* t, void* self) {
    Bed& bed = *static_cast<Bed*>(self);
    ++bed.fired_;
    bed.arm(bed.timers_.place(t));
  }
  TimerDraws draws_;
  double cycles_per_ns_;
  uint64_t fired_ = 0;
  DpdkTimers timers_;  // goes first: nothing fires any more
};

void rearm(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    bed.arm(bed.any());
    return 1U;
  });
}
BENCHMARK(rearm)->Name("timer_wheel/rearm/rte_timer")->Apply(timer_counts);

void cancel_and_schedule(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    const size_t i = bed.any();
    bed.stop(i);
    bed.arm(i);
    return 1U;
  });
}
BENCHMARK(cancel_and_schedule)->Name("timer_wheel/cancel_schedule/rte_timer")->Apply(timer_counts);

// A timer's whole life. Polls without a due timer are not counted: they would measure how rarely
// timers fire.
void expire(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  rte_timer_manage();  // timers that have become due since the bed was made
  const uint64_t before = bed.fired();
  uint64_t cycles = 0;
  for (auto _ : state) {
    for (uint64_t fired = bed.fired(); fired == bed.fired();) {
      const uint64_t begin = rte_rdtsc();
      rte_timer_manage();
      if (fired != bed.fired()) cycles += rte_rdtsc() - begin;
    }
  }
  const uint64_t fired = bed.fired() - before;
  state.SetItemsProcessed(static_cast<int64_t>(fired));
  state.counters["cycles"] = static_cast<double>(cycles) / static_cast<double>(fired);
}
BENCHMARK(expire)->Name("timer_wheel/schedule_expire/rte_timer")->Apply(timer_counts);

}  // namespace
}  // namespace turnpike::bench::dpdk_timers
