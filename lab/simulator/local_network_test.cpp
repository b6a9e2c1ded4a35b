// SPDX-License-Identifier: BSD-3-Clause
// FCP where round trips take microseconds, and where flows want just what a link has: use of the
// link, shares, and the first milliseconds of a new link.
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab::local_network_test {
namespace {

constexpr const char* kClasses =
    ", classes: { calm: { match: { dscp: 46 }, policy: stability }, rest: { policy: standard } }";

/// Two hosts and a sink around a router.
struct Network {
  const char* access;            // rate of the hosts' links
  const char* bottleneck;        // rate of the sink's link
  int rtt_us;                    // of propagation
  int flows = 1;                 // of each host
  const char* budget = "1 $/s";  // bob's; empty: he sends nothing
  const char* buffer = "1 MB";
  const char* quantum = "0 s";  // hosts sleep that long between bursts
  const char* more = "";        // of the sink's link
  const char* flow = "";        // of alice's flow
};

class LocalNetwork : public ::testing::Test {
 protected:
  void build(const Network& n) {
    const std::string delay = ", delay: " + std::to_string(n.rtt_us * 1000 / 4) + " ns }\n";
    const std::string count = ", to: sink, count: " + std::to_string(n.flows) + " }\n";
    const bool two = *n.budget != '\0';
    const std::string text =
        std::string("run: { duration: 1 s, quantum: ") + n.quantum +
        " }\nhosts: { alice: { budget: 1 $/s }, bob: { budget: " + (two ? n.budget : "1 $/s") +
        " }, sink: {} }\n"
        "routers: { gate: {} }\n"
        "links:\n  a: { ends: [alice, gate], rate: " +
        n.access + delay + "  b: { ends: [bob, gate], rate: " + n.access + delay +
        "  c: { ends: [gate, sink], rate: " + n.bottleneck + ", law: fcp, buffer: " + n.buffer +
        delay + "traffic:\n  flows:\n    alice: { from: alice" + n.flow + count +
        (two ? "    bob: { from: bob" + count : "");
    rtt = 1_us * n.rtt_us;
    auto loaded = config::load_text(text, "network");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    auto made = World::make(topology, ignore, {});
    ASSERT_TRUE(made) << made.error();
    world = std::move(*made);
  }
  [[nodiscard]] std::array<double, 2> acknowledged() const {
    std::array<double, 2> bytes{};
    for (const sender::Sender* sender : world->senders())
      for (const auto& host : sender->hosts())
        if (host->index() < bytes.size())
          bytes[host->index()] = static_cast<double>(host->totals().acked_bytes.read());
    return bytes;
  }
  /// Of alice and bob, of the sink's link, for 30 ms after 20 ms and 30 round trips.
  std::array<double, 2> shares() {
    const Nanos from = 20_ms + rtt * 30, to = from + 30_ms;
    world->run_until(from);
    const auto before = acknowledged();
    world->run_until(to);
    auto shares = acknowledged();
    const double rate = bytes_per_second(world->router(0).snapshot().links[2].rate);
    for (size_t i = 0; i < shares.size(); ++i)
      shares[i] = (shares[i] - before[i]) / (rate * to_seconds(to - from));
    return shares;
  }
  uint64_t dropped() { return world->router(0).snapshot().dropped(); }

  Nanos rtt{0};
  testing::IgnoredOutcomes ignore;
  config::Topology topology;
  std::unique_ptr<World> world;
};

TEST_F(LocalNetwork, AFlowFillsALinkOfItsHostsRate) {
  for (const int rtt_us : {20, 100, 1000, 4000})
    for (const char* rate : {"100 Mbps", "1 Gbps"}) {
      SCOPED_TRACE(::testing::Message() << rate << ", " << rtt_us << " us");
      build({.access = rate, .bottleneck = rate, .rtt_us = rtt_us, .budget = ""});
      EXPECT_GE(shares()[0], 0.98);
      EXPECT_EQ(dropped(), 0U);
    }
}

TEST_F(LocalNetwork, AFlowFillsALinkWithClasses) {
  for (const int rtt_us : {100, 1000, 4000}) {
    SCOPED_TRACE(::testing::Message() << rtt_us << " us");
    build({.access = "1 Gbps",
           .bottleneck = "1 Gbps",
           .rtt_us = rtt_us,
           .budget = "",
           .more = kClasses});
    EXPECT_GE(shares()[0], 0.98);
    EXPECT_EQ(dropped(), 0U);
  }
}

TEST_F(LocalNetwork, TheFirstFlowOfAStabilityClassPaysFromItsFirstRoundTripOn) {
  for (const int rtt_us : {1000, 10'000}) {
    SCOPED_TRACE(::testing::Message() << rtt_us << " us");
    build({.access = "1 Gbps",
           .bottleneck = "100 Mbps",
           .rtt_us = rtt_us,
           .budget = "",
           .buffer = "1 BDP",
           .more = kClasses,
           .flow = ", dscp: 46"});
    EXPECT_GE(shares()[0], 0.95);
    EXPECT_EQ(dropped(), 0U);
  }
}

TEST_F(LocalNetwork, FlowsShareALinkByBudget) {
  for (const int rtt_us : {20, 100, 300}) {
    SCOPED_TRACE(::testing::Message() << rtt_us << " us");
    build({.access = "10 Gbps", .bottleneck = "1 Gbps", .rtt_us = rtt_us, .budget = "3 $/s"});
    const auto s = shares();
    EXPECT_GE(s[0] + s[1], 0.98);
    EXPECT_NEAR(s[0], 1.0 / 4, 0.02);
    EXPECT_EQ(dropped(), 0U);
  }
}

/// Programs in real time sleep while nothing is due: their silences are no stalls. Bursts of up to
/// a fifth of a round trip: fewer meet prices that differ too much.
TEST_F(LocalNetwork, HostsThatSleepFillALink) {
  for (const int rtt_us : {800, 2000}) {
    SCOPED_TRACE(::testing::Message() << rtt_us << " us");
    build({.access = "10 Gbps", .bottleneck = "1 Gbps", .rtt_us = rtt_us, .quantum = "150 us"});
    const auto s = shares();
    EXPECT_GE(s[0] + s[1], 0.9);
    EXPECT_NEAR(s[0] / (s[0] + s[1]), 1.0 / 2, 0.025);  // 5 %
    EXPECT_EQ(dropped(), 0U);
  }
}

/// The link's first guess of a round trip is a thousand times too long.
TEST_F(LocalNetwork, ANewLinkLearnsTheRoundTripBeforeItsBufferIsFull) {
  build(
      {.access = "1 Gbps", .bottleneck = "1 Gbps", .rtt_us = 100, .flows = 5, .buffer = "100 KB"});
  const auto s = shares();
  EXPECT_GE(s[0] + s[1], 0.95);
  EXPECT_EQ(dropped(), 0U);
}

}  // namespace
}  // namespace turnpike::lab::local_network_test
