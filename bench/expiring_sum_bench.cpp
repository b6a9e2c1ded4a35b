// SPDX-License-Identifier: BSD-3-Clause
// The moving window: a queue of buckets, beside a deque that remembers every packet, and a DPDK
// timer for every packet.
#include <array>
#include <deque>

#include <benchmark/benchmark.h>

#include "bench/dpdk_timers.h"
#include "bench/kept.h"
#include "bench/measure.h"
#include "common/time/expiring_sum.h"

namespace turnpike::bench {
namespace {

constexpr size_t kFields = 4;
using Values = std::array<double, kFields>;
constexpr Values kPacket{1.2e-5, 3e-7, 0.08, 1};

// The structure that the buckets replace: exact, a node per packet, with a fixed window.
class Queue {
 public:
  void advance(Nanos now, Nanos window) {
    now_ = now;
    while (!packets_.empty() && packets_.front().time <= now - window) {
      for (size_t f = 0; f < kFields; ++f) sum_[f] -= packets_.front().values[f];
      packets_.pop_front();
    }
  }
  void add(const Values& v) {
    packets_.push_back({now_, v});
    for (size_t f = 0; f < kFields; ++f) sum_[f] += v[f];
  }
  [[nodiscard]] Values totals() const { return sum_; }

 private:
  struct Packet {
    Nanos time;
    Values values;
  };
  Nanos now_{0};
  std::deque<Packet> packets_;
  Values sum_{};
};

// One item is a packet with its share of a burst's advance and totals. Arguments: ns between
// packets, packets per burst; the window is 160 ms.
template <class Sum>
void window(benchmark::State& state) {
  const Nanos gap(state.range(0)), length = 160_ms;
  const auto burst = state.range(1);
  Sum sum;
  Nanos now{0};
  const auto step = [&] {
    now += gap * burst;
    sum.advance(now, length);
    for (int64_t i = 0; i < burst; ++i) sum.add(kPacket);
    return sum.totals();
  };
  while (now < length * 2) step();  // until every packet pushes another one out
  measure(state, [&] {
    benchmark::DoNotOptimize(step());
    return static_cast<uint64_t>(burst);
  });
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"gap_ns", "burst"});
  for (const int64_t gap : {100, 12'000}) {
    for (const int64_t burst : {1, 32}) b->Args({gap, burst});
  }
}
BENCHMARK(window<ExpiringSum<kFields>>)->Name("expiring_sum")->Apply(shapes);
BENCHMARK(window<Queue>)->Name("expiring_sum/deque")->Apply(shapes);

// A timer takes every packet out of the sums. rte_timer knows no time but the machine's, so packets
// come as fast as they are handled and the window is real: 160 ms of them wait.
class TimedSum {
 public:
  explicit TimedSum(DpdkTimers& timers) : timers_(timers), window_(timers.hz() * 4 / 25) {}
  ~TimedSum() {
    for (size_t i = 0; i < timers_.size(); ++i) timers_.stop(i);
  }
  TimedSum(const TimedSum&) = delete;
  TimedSum& operator=(const TimedSum&) = delete;

  void add(const Values& v) {
    for (size_t f = 0; f < kFields; ++f) sum_[f] += v[f];
    timers_.arm(next_++ % timers_.size(), window_, expire, this);
  }
  [[nodiscard]] Values totals() const { return sum_; }
  [[nodiscard]] uint64_t window() const { return window_; }

 private:
  static void expire(rte_timer*, void* self) {
    auto& sum = static_cast<TimedSum*>(self)->sum_;
    for (size_t f = 0; f < kFields; ++f) sum[f] -= kPacket[f];
  }
  DpdkTimers& timers_;
  uint64_t window_;  // cycles
  size_t next_ = 0;
  Values sum_{};
};

void timed(benchmark::State& state) {
  constexpr size_t kMax = 1 << 20;  // more than can wait: at 160 ms, a packet takes over 150 ns
  constexpr uint64_t kBurst = 32;
  TimedSum sum(kept<DpdkTimers>(kMax));
  const auto step = [&] {
    for (uint64_t i = 0; i < kBurst; ++i) sum.add(kPacket);
    rte_timer_manage();
    benchmark::DoNotOptimize(sum.totals());
    return kBurst;
  };
  const uint64_t begin = rte_rdtsc();
  while (rte_rdtsc() - begin < sum.window() * 3 / 2) step();
  measure(state, step);
}
BENCHMARK(timed)->Name("expiring_sum/rte_timer")->ArgName("burst")->Arg(32)->MinTime(0.3);

// The window itself moves by 30 % up and down, as the average round trip time does.
void moving(benchmark::State& state) {
  ExpiringSum<kFields> sum;
  Nanos now{0};
  int64_t i = 0;
  measure(state, [&] {
    now += 1_us;
    const int64_t swing = i++ % 2'000'000;  // two seconds
    sum.advance(now, 160_ms + Nanos(48 * (swing < 1'000'000 ? swing : 2'000'000 - swing)));
    sum.add(kPacket);
    benchmark::DoNotOptimize(sum.totals());
    return 1U;
  });
  state.counters["bytes"] = static_cast<double>(ExpiringSum<kFields>::state_bytes());
}
BENCHMARK(moving)->Name("expiring_sum/moving_window");

// The dearest stream: every packet brings more than all before it together, so each has a bucket,
// and they never suffice.
void growing(benchmark::State& state) {
  ExpiringSum<kFields> sum;
  Nanos now{0};
  double v = 1e-300;
  measure(state, [&] {
    now += 1_us;
    v = v > 1e300 ? 1e-300 : v * 2.1;
    sum.advance(now, 160_ms);
    sum.add({v, v, 0.08, 1});
    benchmark::DoNotOptimize(sum.totals());
    return 1U;
  });
}
BENCHMARK(growing)->Name("expiring_sum/growing");

}  // namespace
}  // namespace turnpike::bench
