// SPDX-License-Identifier: BSD-3-Clause
// oneTBB's concurrent priority queue as a timer queue, on one thread. Its entries cannot be moved
// or removed from the middle, so there is no measurement of re-arming and cancelling.
#include <benchmark/benchmark.h>
#include <tbb/concurrent_priority_queue.h>

#include "bench/measure.h"
#include "bench/timer_draws.h"

namespace turnpike::bench::priority_queue {
namespace {

struct Entry {
  Nanos at{0};
  uint32_t timer = 0;
  bool operator<(const Entry& other) const { return at > other.at; }  // the earliest comes first
};

class Bed {
 public:
  explicit Bed(size_t count) : draws_(count), count_(count) {
    for (size_t i = 0; i < count; ++i) queue_.push({draws_.delay(), static_cast<uint32_t>(i)});
  }

  /// The earliest timer fires and is scheduled again.
  uint32_t fire() {
    Entry e;
    queue_.try_pop(e);
    e.at += draws_.delay();
    queue_.push(e);
    return e.timer;
  }
  [[nodiscard]] size_t size() const { return count_; }

 private:
  TimerDraws draws_;
  size_t count_;
  tbb::concurrent_priority_queue<Entry> queue_;
};

void expire(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    benchmark::DoNotOptimize(bed.fire());
    return 1U;
  });
}
BENCHMARK(expire)->Name("timer_wheel/schedule_expire/tbb")->Apply(timer_counts);

}  // namespace
}  // namespace turnpike::bench::priority_queue
