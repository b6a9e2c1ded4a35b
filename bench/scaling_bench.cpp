// SPDX-License-Identifier: BSD-3-Clause
// Measures the speed-up of a second lcore. One lcore alone, two that send to the same links, and
// two without common data forward in short turns, so that a slow phase of the machine affects all
// three. The last is the processors' limit; the gap between the second and the last is the cost of
// sharing.
#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "bench/forwarding.h"

namespace turnpike::bench {
namespace {

constexpr int kRounds = 9;

/// Packets per second of the time stamp counter's, over a fiftieth of one.
double rate_of(Forwarding& f, unsigned worker) {
  uint64_t packets = 0;
  const uint64_t begin = rte_rdtsc();
  uint64_t now = begin;
  for (const uint64_t end = begin + rte_get_tsc_hz() / 50; now < end; now = rte_rdtsc())
    packets += f.poll(worker);
  return static_cast<double>(packets * rte_get_tsc_hz()) / static_cast<double>(now - begin);
}

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

/// The second lcore polls whenever the first does, until `over_` is set.
class Second {
 public:
  Second() : thread_([this] { run(); }) {}
  ~Second() {
    forwarding_ = nullptr;
    turn_.arrive_and_wait();
  }
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;

  /// Rate of both, `first` polled as worker 0 and `second` as `worker`.
  double rate_with(Forwarding& first, Forwarding& second, unsigned worker) {
    forwarding_ = &second;
    worker_ = worker;
    turn_.arrive_and_wait();
    const double own = rate_of(first, 0);
    turn_.arrive_and_wait();
    return own + rate_;
  }

 private:
  void run() {
    for (;;) {
      turn_.arrive_and_wait();
      if (forwarding_ == nullptr) return;
      rate_ = rate_of(*forwarding_, worker_);
      turn_.arrive_and_wait();
    }
  }

  std::barrier<> turn_{2};
  Forwarding* forwarding_ = nullptr;
  unsigned worker_ = 0;
  double rate_ = 0;
  std::jthread thread_;
};

// Counters: rates are medians over rounds, the speed-up is the median of each round's.
void two_lcores(benchmark::State& state, Load load) {
  Forwarding alone(load), apart(load);
  load.workers = 2;
  Forwarding together(load);
  for (unsigned i = 0; i < Forwarding::kWarmUp; ++i) {
    alone.poll();
    apart.poll();
    together.poll(0);
    together.poll(1);
  }
  std::vector<double> one, both, gain, gain_apart;
  Second second;
  for (auto _ : state) {
    one.push_back(rate_of(alone, 0));
    both.push_back(second.rate_with(together, together, 1));
    gain.push_back(both.back() / one.back());
    gain_apart.push_back(second.rate_with(alone, apart, 0) / one.back());
  }
  state.counters["one"] = median(one);
  state.counters["two"] = median(both);
  state.counters["gain"] = median(gain);
  state.counters["gain_apart"] = median(gain_apart);
}

BENCHMARK_CAPTURE(two_lcores, ipv4, {.traffic = Traffic::kIpv4})->Iterations(kRounds);
BENCHMARK_CAPTURE(two_lcores, priced, {.traffic = Traffic::kPriced, .flows = 64})
    ->Iterations(kRounds);

}  // namespace
}  // namespace turnpike::bench
