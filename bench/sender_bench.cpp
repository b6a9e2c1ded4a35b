// SPDX-License-Identifier: BSD-3-Clause
// The sender's lcore with 100 to a million paced FCP flows. One item is a data packet and its ACK,
// the port's part of both included.
#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "bench/measure.h"
#include "bench/sending.h"
#include "common/time/clock.h"

namespace turnpike::bench {
namespace {

constexpr double kPps = 4e6;
constexpr int64_t kPerPoll = 32;

Nanos rtt_of(unsigned flows) {
  // Long enough for a packet of each flow, as the floor of one per round trip asks.
  return std::max(Nanos(1_ms), from_seconds(2 * flows / kPps));
}

// Time is virtual and such that each poll finds 32 packets due and as many ACKs: what a packet
// costs when the sender has no moment to spare.
void saturated(benchmark::State& state) {
  const auto flows = static_cast<unsigned>(state.range(0));
  const auto begin = std::chrono::steady_clock::now();
  Sending s(flows, kPps, rtt_of(flows));
  const Nanos step = from_seconds(kPerPoll / kPps);
  Nanos now = s.warm_up(step);
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - begin;
  measure(state, [&] { return s.poll(now += step); });
  state.counters["setup_s"] = setup.count();
  state.counters["MB"] = static_cast<double>(s.bytes()) / 1e6;
}
BENCHMARK(saturated)->Name("sender/flows")->Arg(100)->Arg(10'000)->Arg(1'000'000);

// Time is real: how far the gaps between a flow's packets are off, in microseconds. Arguments:
// flows, packets a second of all together.
void pacing(benchmark::State& state) {
  const auto flows = static_cast<unsigned>(state.range(0));
  const auto pps = static_cast<double>(state.range(1));
  constexpr Nanos kTime = 2_s;
  Sending s(flows, pps, std::max(Nanos(1_ms), from_seconds(2 * flows / pps)));
  const Nanos start = s.warm_up(from_seconds(kPerPoll / pps));
  s.port().measure_gaps(s.gap(), std::bit_ceil(s.sender().lane().flows.capacity()));
  const TscClock clock(rte_get_tsc_hz(), TscClock::ticks());
  s.port().clock = [&] { return start + clock.now(); };
  uint64_t packets = 0, late = 0, last = 0;
  for (auto _ : state) {
    const Nanos end = clock.now() + kTime;
    for (Nanos now = clock.now(); now < end; now = clock.now()) {
      const auto moment = static_cast<uint64_t>(now.count());
      late = std::max(late, moment - std::exchange(last, moment));
      packets += s.poll(start + now);
    }
  }
  const auto& e = s.port().gap_errors();
  state.SetItemsProcessed(static_cast<int64_t>(packets));
  state.counters["p50_us"] = static_cast<double>(e.quantile(0.5)) * 1e-3;
  state.counters["p99_us"] = static_cast<double>(e.quantile(0.99)) * 1e-3;
  state.counters["p999_us"] = static_cast<double>(e.quantile(0.999)) * 1e-3;
  // The longest that the machine let pass between two polls.
  state.counters["stall_us"] = static_cast<double>(late) * 1e-3;
}
BENCHMARK(pacing)
    ->Name("sender/pacing")
    ->ArgNames({"flows", "pps"})
    ->Args({100, 100'000})
    ->Args({100, 1'000'000})
    ->Args({10'000, 1'000'000})
    ->Args({1'000'000, 1'000'000})
    ->Iterations(1)
    ->UseRealTime();

}  // namespace
}  // namespace turnpike::bench
