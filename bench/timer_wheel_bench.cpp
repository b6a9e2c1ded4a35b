// SPDX-License-Identifier: BSD-3-Clause
// The timer wheel with as many timers armed as the argument says, as a sender's flows have them.
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/time/timer_wheel.h"

namespace turnpike {
namespace {

constexpr unsigned kTickShift = 10;
constexpr size_t kDraws = 1 << 16;

// Deadlines from now on, drawn beforehand: uniform from 1 ns to 100 ms.
class Bed {
 public:
  explicit Bed(benchmark::State& state)
      : timers_(std::make_unique<Timer[]>(static_cast<size_t>(state.range(0)))),
        count_(static_cast<size_t>(state.range(0))) {
    std::mt19937_64 random(1);
    for (size_t i = 0; i < kDraws; ++i) {
      delays_.emplace_back(static_cast<int64_t>(1 + random() % 100'000'000));
      order_.push_back(random() % count_);
    }
    for (size_t i = 0; i < count_; ++i) wheel.schedule(timers_[i], delay());
  }

  Nanos delay() { return delays_[draw_++ % kDraws]; }
  Timer& any() { return timers_[order_[draw_++ % kDraws]]; }

  TimerWheel wheel{0_ns, kTickShift};

 private:
  std::unique_ptr<Timer[]> timers_;
  size_t count_;
  std::vector<Nanos> delays_;
  std::vector<size_t> order_;
  size_t draw_ = 0;
};

void rearm(benchmark::State& state) {
  Bed bed(state);
  for (auto _ : state) bed.wheel.schedule(bed.any(), bed.delay());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(rearm)->Name("timer_wheel/rearm")->Arg(1000)->Arg(100'000);

void cancel_and_schedule(benchmark::State& state) {
  Bed bed(state);
  for (auto _ : state) {
    Timer& timer = bed.any();
    bed.wheel.cancel(timer);
    bed.wheel.schedule(timer, bed.delay());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cancel_and_schedule)->Name("timer_wheel/cancel_schedule")->Arg(1000)->Arg(100'000);

// Every timer that fires is scheduled again, so one item is a timer's whole life: schedule,
// filing again on its way down, and expiry. The clock jumps from deadline to deadline.
void expire(benchmark::State& state) {
  Bed bed(state);
  Nanos now{0};
  size_t fired = 0;
  for (auto _ : state) {
    now = bed.wheel.next_deadline();
    fired +=
        bed.wheel.advance(now, 64, [&](Timer& t) { bed.wheel.schedule(t, now + bed.delay()); });
  }
  state.SetItemsProcessed(static_cast<int64_t>(fired));
}
BENCHMARK(expire)->Name("timer_wheel/schedule_expire")->Arg(1000)->Arg(100'000);

// What an lcore's loop pays when nothing is due.
void poll(benchmark::State& state) {
  Bed bed(state);
  for (auto _ : state) benchmark::DoNotOptimize(bed.wheel.advance(0_ns, 64, [](Timer&) {}));
}
BENCHMARK(poll)->Name("timer_wheel/poll")->Arg(1000);

}  // namespace
}  // namespace turnpike
