// SPDX-License-Identifier: BSD-3-Clause
// The timer wheel with as many armed timers as the argument says, like those of a sender's flows.
#include <memory>

#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "bench/timer_draws.h"
#include "common/time/timer_wheel.h"

namespace turnpike::bench::timer_wheel {
namespace {

constexpr unsigned kTickShift = 10;

class Bed {
 public:
  explicit Bed(size_t count)
      : draws(count),
        wheel(0_ns, kTickShift, TimerWheel::block_bits_for(count)),
        timers_(std::make_unique<Timer[]>(count)),
        count_(count) {
    for (size_t i = 0; i < count; ++i) wheel.schedule(timers_[i], draws.delay());
  }

  Timer& any() { return timers_[draws.place()]; }
  [[nodiscard]] size_t size() const { return count_; }

  TimerDraws draws;
  TimerWheel wheel;
  Nanos now{0};

 private:
  std::unique_ptr<Timer[]> timers_;
  size_t count_;
};

void rearm(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    bed.wheel.schedule(bed.any(), bed.now + bed.draws.delay());
    return 1U;
  });
}
BENCHMARK(rearm)->Name("timer_wheel/rearm")->Apply(timer_counts);

void cancel_and_schedule(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    Timer& timer = bed.any();
    bed.wheel.cancel(timer);
    bed.wheel.schedule(timer, bed.now + bed.draws.delay());
    return 1U;
  });
}
BENCHMARK(cancel_and_schedule)->Name("timer_wheel/cancel_schedule")->Apply(timer_counts);

// Schedules every timer again when it fires, so one item is a timer's whole life: scheduling,
// cascading, expiry. The clock jumps from deadline to deadline.
void expire(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    bed.now = bed.wheel.next_deadline();
    return bed.wheel.advance(bed.now, 64,
                             [&](Timer& t) { bed.wheel.schedule(t, bed.now + bed.draws.delay()); });
  });
}
BENCHMARK(expire)->Name("timer_wheel/schedule_expire")->Apply(timer_counts);

// Cost of a poll of an lcore's loop without a due timer.
void poll(benchmark::State& state) {
  Bed& bed = bed_for<Bed>(state);
  measure(state, [&] {
    benchmark::DoNotOptimize(bed.wheel.advance(bed.now, 64, [](Timer&) {}));
    return 1U;
  });
}
BENCHMARK(poll)->Name("timer_wheel/poll")->ArgName("timers")->Arg(1000);

}  // namespace
}  // namespace turnpike::bench::timer_wheel
