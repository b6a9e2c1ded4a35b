// SPDX-License-Identifier: BSD-3-Clause
// The sender's lcore with 100 to a million paced FCP flows. One item is a data packet and its ACK,
// including the port's part of both.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>
#include <rte_cycles.h>

#include "bench/kept.h"
#include "bench/measure.h"
#include "bench/sending.h"
#include "common/time/clock.h"

namespace turnpike::bench {
namespace {

// As many flows at their rates, and the virtual time that they have reached.
class Begun {
 public:
  explicit Begun(size_t flows) : sending_(static_cast<unsigned>(flows)), now_(sending_.warm_up()) {}

  uint64_t poll() { return sending_.poll(now_ += sending_.step()); }
  [[nodiscard]] size_t size() const { return sending_.flows(); }

 private:
  Sending sending_;
  Nanos now_;
};

// Virtual time, such that each poll finds 32 packets due and as many ACKs: the cost of a packet
// when the sender is never idle.
void saturated(benchmark::State& state) {
  const auto flows = static_cast<size_t>(state.range(0));
  auto& begun = kept<Begun>(flows);
  measure(state, [&] { return begun.poll(); });
  state.counters["MB"] = static_cast<double>(flows * sizeof(sender::Flow)) / 1e6;
}
BENCHMARK(saturated)->Name("sender/flows")->Arg(100)->Arg(10'000)->Arg(1'000'000);

void tell(benchmark::State& state, const std::string& whose, const PacingCheck& check) {
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
  for (const auto& [name, q] : {std::pair{"_p50_us", 0.5}, {"_p99_us", 0.99}, {"_p999_us", 0.999}})
    state.counters[whose + name] = us(check.gap_errors().quantile(q));
  state.counters[whose + "_stall_us"] = us(static_cast<uint64_t>(check.longest().count()));
}

// Real time: the error of the flows' gaps, and for comparison that of a sender that only reads the
// clock, which is the machine's limit.
// Arguments: flows, packets per second of all together.
void pacing(benchmark::State& state) {
  const auto flows = static_cast<unsigned>(state.range(0));
  const auto pps = static_cast<double>(state.range(1));
  Sending s(flows, pps);
  const Nanos time = std::max(Nanos(2_s), s.gap() * 8);  // a flow needs a few packets
  const Nanos start = s.warm_up();
  const size_t ids = std::bit_ceil(s.sender().lcore().flows.capacity());
  PacingCheck check(s.gap(), ids), ideal(s.gap(), flows);
  // Gaps of the rate that a flow's budget pays for; rounding and FCP's dead band keep it a little
  // off its share.
  s.sender().lcore().flows.for_each([&](const sender::Flow& f) {
    check.set_gap(f.id % ids, from_seconds(Sending::kPacket / f.pacer.rate()));
  });
  const TscClock clock(rte_get_tsc_hz(), TscClock::ticks());
  s.port().watch(check, ids, [&] { return start + clock.now(); });
  uint64_t packets = 0;
  for (auto _ : state) {
    for (Nanos now = clock.now(); now < time; now = clock.now()) packets += s.poll(start + now);
    uint64_t sent = 0;
    for (Nanos now = clock.now(); now < time * 2; now = clock.now()) {
      ideal.polled(now);
      for (; time + from_seconds(static_cast<double>(sent) / pps) <= now; ++sent)
        ideal.sent(sent % flows, now);
    }
  }
  state.counters["pps"] = static_cast<double>(packets) / to_seconds(time);
  tell(state, "gap", check);
  tell(state, "ideal", ideal);
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
