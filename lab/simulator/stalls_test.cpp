// SPDX-License-Identifier: BSD-3-Clause
// The demo as two processes, a router and a sender, on a machine that takes the CPU away from
// either: checks shares, utilisation and losses.
#include "common/program/stalls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "common/dpdk/ring_queue.h"
#include "common/program/attachment.h"
#include "common/units/instrumented.h"
#include "router/router.h"
#include "sender/sender.h"
#include "sender/sizing.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab {
namespace {

using namespace std::string_view_literals;

// Under sanitizers a packet takes a hundred times as long.
#ifdef TURNPIKE_INSTRUMENTED
constexpr std::array kRates{"20 Mbps"};
#else
constexpr std::array kRates{"100 Mbps", "1 Gbps"};
#endif
constexpr size_t kBottleneck = 3;
constexpr Nanos kPoll = 20_us;         // as often as a program that limits polls
constexpr uint32_t kPortSlots = 2047;  // packets: of memif's rings

std::string demo(const std::string& rate) {
  return "run: { duration: 8 s, seed: 1 }\n"
         "hosts: { alice: { budget: 1 $/s }, bob: { budget: 1 $/s }, carol: { budget: 2 $/s },"
         " server: {} }\n"
         "routers: { gate: {} }\n"
         "links:\n"
         "  alice-gate: { ends: [alice, gate], rate: 10 Gbps, delay: 2 ms, attach: memif }\n"
         "  bob-gate: { ends: [bob, gate], rate: 10 Gbps, delay: 2 ms, attach: memif }\n"
         "  carol-gate: { ends: [carol, gate], rate: 10 Gbps, delay: 2 ms, attach: memif }\n"
         "  bottleneck: { ends: [gate, server], rate: " +
         rate +
         ", delay: 8 ms, buffer: 1 BDP, law: fcp, attach: memif }\n"
         "traffic:\n  flows:\n"
         "    alice: { from: alice, to: server, start: 0 s }\n"
         "    bob: { from: bob, to: server, start: 1 s, stop: 6 s }\n"
         "    carol: { from: carol, to: server, start: 2 s }\n";
}

/// The program that does not run, for how long and how often. "each": both programs, at independent
/// moments and for times with mean `time`, as on a shared machine.
struct Hold {
  const char* who;  // "router", "sender", "both", "each"
  Nanos time, period;

  [[nodiscard]] bool router(Nanos now) const {
    if (each()) return at(now, 0, varied(now, 0));
    return who != "sender"sv && at(now, 0, time);
  }
  [[nodiscard]] bool sender(Nanos now) const {
    if (each()) return at(now, 0.5, varied(now, 0.5));
    return who != "router"sv && at(now, 0, time);
  }

 private:
  [[nodiscard]] bool each() const { return who == "each"sv; }
  /// A number between 0 and 1, uniform, from the period and `shift`.
  [[nodiscard]] double even(Nanos now, double step, double shift) const {
    return std::fmod(static_cast<double>(now.count() / period.count() + 1) * step + shift, 1);
  }
  /// An exponential time with mean `time`, at most the period.
  [[nodiscard]] Nanos varied(Nanos now, double shift) const {
    const double times = -std::log(std::max(even(now, 0.7548776662, shift), 1e-3));
    return std::min(from_seconds(to_seconds(time) * times), period);
  }
  /// A time in each period, which depends on the period's number.
  [[nodiscard]] bool at(Nanos now, double shift, Nanos length) const {
    const double where = even(now, 0.6180339887, shift);
    const Nanos start = from_seconds(where * to_seconds(period - length));
    const Nanos in = Nanos(now.count() % period.count()) - start;
    return in >= 0_ns && in < length;
  }
};

/// The router's worker and the sender on one virtual clock, each polled as its program polls it.
class StallsTest : public ::testing::TestWithParam<std::tuple<const char*, Hold>> {
 protected:
  void SetUp() override {
    auto loaded = config::load_text(demo(std::get<0>(GetParam())), "demo");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    const std::vector<uint32_t> hosts{0, 1, 2, 3};
    const size_t buffers = sender::size_of(topology, hosts).buffers;
    auto made = Pool::create("stalls", {.mbufs = static_cast<uint32_t>(buffers)});
    ASSERT_TRUE(made) << made.error();
    pool = std::make_unique<Pool>(std::move(*made));

    std::vector<std::vector<QueuePair*>> ports;
    std::vector<sender::PortBinding> bindings(hosts.size());
    for (const size_t l : topology.routers[0].links) {
      const config::Link& link = topology.links[l];
      auto cable = RingCable::create("stalls", kPortSlots);
      ASSERT_TRUE(cable) << cable.error();
      cables.push_back(std::make_unique<RingCable>(std::move(*cable)));
      ports.push_back({&cables.back()->end(0)});
      const size_t end = 1 - link.end_at(topology.routers[0].name);
      delay_lines.push_back(delay_line_at(cables.back()->end(1), link, end, true, buffers));
      for (uint32_t h = 0; h < hosts.size(); ++h)
        if (topology.hosts[h].name == link.ends[end].node)
          bindings[h] = {h, delay_lines.back().get()};
    }
    auto gate_made = router::Router::make(topology, 0, ports, {{pool->get()}},
                                          {.slack = router::kRealTimeSlack});
    ASSERT_TRUE(gate_made) << gate_made.error();
    gate = std::move(*gate_made);
    auto runner_made = sender::Sender::make(topology, {.bindings = bindings,
                                                       .pool = pool->get(),
                                                       .outcomes = ignore,
                                                       .seed = 1,
                                                       .tick_shift = 8});
    ASSERT_TRUE(runner_made) << runner_made.error();
    runner = std::move(*runner_made);
  }
  void TearDown() override {
    if (runner) runner->abandon(now);
    if (gate) gate->worker(0).discard();
  }

  void run_until(Nanos end) {
    const Hold& hold = std::get<1>(GetParam());
    for (; now < end; now += kPoll) {
      const bool router_held = hold.router(now), sender_held = hold.sender(now);
      if (router_held || sender_held) held += kPoll;
      if (!router_held) {
        router::Worker& worker = gate->worker(0);
        if (const Nanos missed = gate_stalls.missed(now); missed > 0_ns)
          worker.stall(now - missed, now);
        worker.poll(now);
      }
      if (!sender_held) {
        if (player_stalls.missed(now) > 0_ns) runner->stalled(now);
        runner->poll(now);
      }
    }
  }
  std::map<std::string, double> acknowledged() {
    std::map<std::string, double> bytes;
    for (const auto& host : runner->hosts())
      bytes[topology.hosts[host->index()].name] =
          static_cast<double>(host->totals().acked_bytes.read());
    return bytes;
  }

  struct Found {
    double worst = 0;  // of shares, relative
    double used = 0;   // s of the link's time
    double held = 0;   // s
  };
  Found found(Nanos from, Nanos to, const std::map<std::string, double>& weights) {
    run_until(from);
    auto before = acknowledged();
    const Nanos before_held = held;
    run_until(to);
    auto bytes = acknowledged();
    double all = 0, weight = 0;
    for (const auto& [name, w] : weights) {
      all += bytes[name] -= before[name];
      weight += w;
    }
    Found f;
    for (const auto& [name, w] : weights)
      f.worst = std::max(f.worst, std::fabs(bytes[name] / all / (w / weight) - 1));
    const double rate = bytes_per_second(gate->snapshot().links[kBottleneck].rate);
    f.used = all / rate;
    f.held = to_seconds(held - before_held);
    return f;
  }

  testing::IgnoredOutcomes ignore;
  config::Topology topology;
  std::unique_ptr<Pool> pool;
  std::vector<std::unique_ptr<RingCable>> cables;
  std::vector<std::unique_ptr<DelayLine>> delay_lines;
  std::unique_ptr<turnpike::router::Router> gate;
  std::unique_ptr<turnpike::sender::Sender> runner;
  Stalls gate_stalls, player_stalls;
  Nanos now{0}, held{0};
};

// A sender whose handshake was delayed and that stalls in each later round trip knows its round
// trip nevertheless: 20 ms, and a stall of the router may delay any packet.
class StartBesideStalls : public StallsTest {};
TEST_P(StartBesideStalls, LosesNothingAndKnowsItsRoundTrip) {
  run_until(1_s);
  EXPECT_EQ(gate->snapshot().dropped(), 0U);
  EXPECT_LT(runner->hosts()[0]->totals().rtt.load(), Nanos(25_ms).count());
}

// A stall costs no more than its own time.
TEST_P(StallsTest, SharesAndLinkRecover) {
  double time = 0, used = 0, held = 0;  // s
  const auto expect_shares = [&](Nanos from, Nanos to,
                                 const std::map<std::string, double>& weights) {
    const Found f = found(from, to, weights);
    EXPECT_LE(f.worst, 0.05) << "until " << to_seconds(to) << " s";
    time += to_seconds(to - from);
    used += f.used;
    held += f.held;
  };
  expect_shares(500_ms, 1_s, {{"alice", 1}});
  expect_shares(1500_ms, 2_s, {{"alice", 1}, {"bob", 1}});
  expect_shares(2500_ms, 6_s, {{"alice", 1}, {"bob", 1}, {"carol", 2}});
  expect_shares(6500_ms, 8_s, {{"alice", 1}, {"carol", 2}});
  EXPECT_GE(used / time, 1 - held / time - 0.02);
  EXPECT_EQ(gate->snapshot().dropped(), 0U);
}

std::vector<Hold> holds() {
  std::vector<std::pair<Nanos, Nanos>> times{{40_ms, 1000_ms}};
  if (!kInstrumented)
    times = {{2_ms, 100_ms}, {5_ms, 250_ms}, {20_ms, 500_ms}, {40_ms, 1000_ms}, {60_ms, 1000_ms}};
  std::vector<Hold> all;
  for (const char* who : {"router", "sender", "both"})
    for (const auto& [time, period] : times) all.push_back({who, time, period});
  all.push_back({"each", 3_ms, 30_ms});
  all.push_back({"each", 10_ms, 400_ms});
  return all;
}
/// A quarter to a third of each program's time. At 1 Gbps the longer ones fill the buffer.
std::vector<Hold> long_holds(bool longer) {
  if (kInstrumented) return {};
  std::vector<Hold> all;
  for (const auto& [time, period] : {std::pair{1_ms, 4_ms}, {1_ms, 3_ms}})
    all.push_back({"each", time, period});
  for (const auto& [time, period] : {std::pair{10_ms, 30_ms}, {20_ms, 60_ms}})
    if (longer) all.push_back({"each", time, period});
  return all;
}
std::string name_of(const ::testing::TestParamInfo<std::tuple<const char*, Hold>>& info) {
  const auto& [rate, hold] = info.param;
  const auto ms = [](Nanos t) { return std::to_string(t.count() / 1'000'000); };
  std::string name =
      std::string(hold.who) + "_" + ms(hold.time) + "_of_" + ms(hold.period) + "_ms_at_" + rate;
  std::ranges::replace(name, ' ', '_');
  return name;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StartBesideStalls);
std::vector<Hold> starts() {
  if (kInstrumented) return {};
  return {{"each", 2_ms, 10_ms}, {"each", 2_ms, 10111_us}, {"each", 2_ms, 10222_us}};
}
INSTANTIATE_TEST_SUITE_P(TwoOfTenMs, StartBesideStalls,
                         ::testing::Combine(::testing::Values(kRates.back()),
                                            ::testing::ValuesIn(starts())));
INSTANTIATE_TEST_SUITE_P(Matrix, StallsTest,
                         ::testing::Combine(::testing::ValuesIn(kRates),
                                            ::testing::ValuesIn(holds())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Long, StallsTest,
                         ::testing::Combine(::testing::Values("100 Mbps"),
                                            ::testing::ValuesIn(long_holds(true))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(LongAtGigabit, StallsTest,
                         ::testing::Combine(::testing::Values("1 Gbps"),
                                            ::testing::ValuesIn(long_holds(false))),
                         name_of);

}  // namespace
}  // namespace turnpike::lab
