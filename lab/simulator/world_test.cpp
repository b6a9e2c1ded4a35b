// SPDX-License-Identifier: BSD-3-Clause
// The demo on a virtual clock, undisturbed and with stalls.
#include "lab/simulator/world.h"

#include <array>
#include <map>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab::world_test {
namespace {

constexpr size_t kGate = 0;
constexpr size_t kBottleneck = 3;

// Under sanitizers a packet takes a hundred times as long.
#ifdef TURNPIKE_INSTRUMENTED
constexpr std::array kRates{"100 Mbps"};
#else
constexpr std::array kRates{"100 Mbps", "1 Gbps"};
#endif

std::string demo(const std::string& rate, const std::string& flows,
                 const std::string& buffer = "1 BDP") {
  return "run: { duration: 15 s, seed: 1 }\n"
         "hosts: { alice: { budget: 1 $/s }, bob: { budget: 1 $/s }, carol: { budget: 2 $/s },"
         " server: {} }\n"
         "routers: { gate: {} }\n"
         "links:\n"
         "  alice-gate: { ends: [alice, gate], rate: 10 Gbps, delay: 2 ms, attach: ring }\n"
         "  bob-gate: { ends: [bob, gate], rate: 10 Gbps, delay: 2 ms, attach: ring }\n"
         "  carol-gate: { ends: [carol, gate], rate: 10 Gbps, delay: 2 ms, attach: ring }\n"
         "  bottleneck: { ends: [gate, server], rate: " +
         rate + ", delay: 8 ms, buffer: " + buffer +
         ", law: fcp, attach: ring }\n"
         "traffic:\n  flows:\n" +
         flows;
}

class WorldTest : public ::testing::Test {
 protected:
  void build(const std::string& text) {
    auto loaded = config::load_text(text, "demo");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    auto made = World::make(topology, ignore, {.slack = 10_ms});
    ASSERT_TRUE(made) << made.error();
    world = std::move(*made);
  }
  router::LinkSnapshot bottleneck() { return world->router(kGate).snapshot().links[kBottleneck]; }
  uint64_t dropped() { return world->router(kGate).snapshot().dropped(); }
  std::map<std::string, double> acknowledged() {
    std::map<std::string, double> bytes;
    for (const sender::Sender* sender : world->senders())
      for (const auto& host : sender->hosts())
        bytes[topology.hosts[host->index()].name] =
            static_cast<double>(host->totals().acked_bytes.read());
    return bytes;
  }

  /// Over an interval: each host's rate as a share of the link's.
  std::map<std::string, double> shares(Nanos from, Nanos to) {
    world->run_until(from);
    auto before = acknowledged();
    world->run_until(to);
    auto shares = acknowledged();
    const double link = bytes_per_second(bottleneck().rate) * to_seconds(to - from);
    for (auto& [name, bytes] : shares) bytes = (bytes - before[name]) / link;
    return shares;
  }

  testing::IgnoredOutcomes ignore;
  config::Topology topology;
  std::unique_ptr<World> world;
};

class Demo : public WorldTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(Demo, SharesTheLinkByBudget) {
  build(demo(GetParam(),
             "    alice: { from: alice, to: server, start: 0 s }\n"
             "    bob: { from: bob, to: server, start: 2 s, stop: 6 s }\n"
             "    carol: { from: carol, to: server, start: 4 s }\n"));
  constexpr double kNear = 0.005;  // of the link
  auto s = shares(500_ms, 2_s);
  EXPECT_NEAR(s["alice"], 1, kNear);
  s = shares(2500_ms, 4_s);
  EXPECT_NEAR(s["alice"], 1.0 / 2, kNear);
  EXPECT_NEAR(s["bob"], 1.0 / 2, kNear);
  s = shares(4500_ms, 6_s);
  EXPECT_NEAR(s["alice"], 1.0 / 4, kNear);
  EXPECT_NEAR(s["bob"], 1.0 / 4, kNear);
  EXPECT_NEAR(s["carol"], 2.0 / 4, kNear);
  s = shares(6500_ms, 8_s);
  EXPECT_NEAR(s["alice"], 1.0 / 3, kNear);
  EXPECT_NEAR(s["carol"], 2.0 / 3, kNear);
  EXPECT_EQ(dropped(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Rates, Demo, ::testing::ValuesIn(kRates));

/// Down to a packet in more than a round trip of 20 ms.
TEST_F(WorldTest, AFewPacketsInFlightFillALink) {
  for (const char* rate : {"500 Kbps", "1 Mbps", "2 Mbps", "3 Mbps", "5 Mbps"})
    for (const bool two : {false, true}) {
      SCOPED_TRACE(rate);
      build(demo(rate,
                 std::string("    alice: { from: alice, to: server }\n") +
                     (two ? "    bob: { from: bob, to: server }\n" : ""),
                 "1 MB"));
      auto s = shares(5_s, 25_s);
      EXPECT_GE(s["alice"] + s["bob"], 0.97);
      if (two) {
        EXPECT_NEAR(s["alice"], s["bob"], 0.05);
      }
      EXPECT_EQ(dropped(), 0U);
    }
}

TEST_F(WorldTest, RepeatsItself) {
  std::vector<std::map<std::string, double>> runs;
  std::vector<double> prices;
  for (int i = 0; i < 2; ++i) {
    build(demo("100 Mbps",
               "    alice: { from: alice, to: server }\n"
               "    bob: { from: bob, to: server, start: 500 ms }\n"));
    world->run_until(1_s);
    runs.push_back(acknowledged());
    prices.push_back(bottleneck().gauges.front().value);
    world.reset();
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(prices[0], prices[1]);
}

/// Two hosts share the link by halves; a stall comes at 2 s, and 200 ms later the shares are
/// restored.
class Stalls : public WorldTest, public ::testing::WithParamInterface<const char*> {
 protected:
  uint64_t lost_in_stall(bool router, bool sender, Nanos time) {
    build(demo(GetParam(),
               "    alice: { from: alice, to: server }\n"
               "    bob: { from: bob, to: server }\n"));
    world->run_until(2_s);
    EXPECT_EQ(dropped(), 0U);
    if (router) world->stall_router(kGate, time);
    if (sender) world->stall_hosts(time);
    world->run_until(2_s + time);
    auto s = shares(2200_ms, 3_s);
    EXPECT_NEAR(s["alice"], 0.5, 0.02);
    EXPECT_NEAR(s["bob"], 0.5, 0.02);
    return dropped();
  }
};
INSTANTIATE_TEST_SUITE_P(Rates, Stalls, ::testing::ValuesIn(kRates));

TEST_P(Stalls, TheWholeMachine) { EXPECT_EQ(lost_in_stall(true, true, 40_ms), 0U); }
// Twice the slack that the link may catch up on, half of its buffer beyond.
TEST_P(Stalls, TheRouterAlone) { EXPECT_EQ(lost_in_stall(true, false, 20_ms), 0U); }
// The router sees a silence of two round trips, in which FCP's window forgets every budget.
TEST_P(Stalls, TheSenderAlone) {
  const uint64_t lost = lost_in_stall(false, true, 40_ms);
  EXPECT_LT(static_cast<double>(lost),
            0.1 * static_cast<double>(bottleneck().buffer.count()) / 1500);
}

}  // namespace
}  // namespace turnpike::lab::world_test
