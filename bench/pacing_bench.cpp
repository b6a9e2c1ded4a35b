// SPDX-License-Identifier: BSD-3-Clause
// Pacing: the next due time of a flow, and a wheel with as many paced flows as the argument says.
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/measure.h"
#include "common/time/timer_wheel.h"
#include "sender/pacing/pacer.h"

namespace turnpike::bench {
namespace {

constexpr uint32_t kPacket = 1500;  // B

void sent(benchmark::State& state) {
  sender::Pacer pacer;
  pacer.set_rate(1.2e6, 0_ns);
  measure(state, [&] {
    pacer.sent(kPacket);
    benchmark::DoNotOptimize(pacer.due());
    return 1U;
  });
}
BENCHMARK(sent)->Name("pacing/sent");

// Every packet has another rate, as with one ACK per packet.
void rate_changes(benchmark::State& state) {
  sender::Pacer pacer;
  double rate = 1.2e6;
  pacer.set_rate(rate, 0_ns);
  measure(state, [&] {
    const Nanos now = pacer.due();
    pacer.sent(kPacket);
    pacer.set_rate(rate = 2.5e6 - rate, now);
    benchmark::DoNotOptimize(pacer.due());
    return 1U;
  });
}
BENCHMARK(rate_changes)->Name("pacing/sent_at_new_rate");

struct Flow {
  Timer timer;
  sender::Pacer pacer;
};

// One item is a packet: its flow's timer fires, the next due time is computed and scheduled. All
// flows together send 5 million packets a second, some three times as fast as others.
void flows(benchmark::State& state) {
  constexpr double kPacketsPerSecond = 5e6;
  constexpr unsigned kTickShift = 10;
  const auto count = static_cast<size_t>(state.range(0));
  const auto all = std::make_unique<Flow[]>(count);
  TimerWheel wheel(0_ns, kTickShift);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.5, 1.5);
  for (size_t i = 0; i < count; ++i) {
    Flow& f = all[i];
    f.pacer.set_rate(share(random) * kPacketsPerSecond * kPacket / static_cast<double>(count),
                     0_ns);
    f.pacer.resume(Nanos(static_cast<int64_t>(share(random) * 1e9 / kPacketsPerSecond *
                                              static_cast<double>(count))));
    wheel.schedule(f.timer, f.pacer.due());
  }
  const auto send = [&](Timer& t) {
    // The timer is the flow's first member.
    auto& f = reinterpret_cast<Flow&>(t);
    f.pacer.sent(kPacket);
    wheel.schedule(t, f.pacer.due());
  };
  measure(state, [&] { return wheel.advance(wheel.next_deadline(), 32, send); });
}
BENCHMARK(flows)->Name("pacing/flows")->ArgName("flows")->Arg(100)->Arg(10'000)->Arg(1'000'000);

}  // namespace
}  // namespace turnpike::bench
