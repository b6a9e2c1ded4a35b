// SPDX-License-Identifier: BSD-3-Clause
// Open-loop streams through routers and links, checked against figures computed beforehand.
#include <cmath>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"
#include "tests/support/ignored_outcomes.h"

namespace turnpike::lab {
namespace {

/// One stream `load` from host a to host b, over the test's links.
class StreamsInTheLab : public ::testing::Test {
 protected:
  void make(const std::string& links, const std::string& stream, const std::string& routers = "") {
    auto loaded = config::load_text(
        "run: {duration: 1 s}\nhosts: {a: {}, b: {}}\n" + routers + "\nlinks: {" + links +
            "}\ntraffic: {streams: {load: {from: a, to: b, " + stream + "}}}\n",
        "test");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    auto made = World::make(topology, ignore, {});
    ASSERT_TRUE(made) << made.error();
    world = std::move(*made);
  }
  void play(const std::string& links, const std::string& stream, const std::string& routers = "") {
    make(links, stream, routers);
    finish();
  }
  void finish() {
    world->run_until(1_s);
    for (sender::Sender* s : world->senders()) s->stop(world->now());
    world->run_until(2_s);
    for (sender::Sender* s : world->senders()) EXPECT_TRUE(s->idle(world->now()));
    for (size_t r = 0; r < topology.routers.size(); ++r)
      EXPECT_TRUE(world->router(r).snapshot().conserved());
  }
  [[nodiscard]] const sender::Emitter& emitter() const {
    return *world->senders()[0]->hosts()[0]->open_loop().emitters()[0];
  }
  [[nodiscard]] uint64_t sent() const { return emitter().departures().packets.read(); }
  [[nodiscard]] const sender::Arrivals& arrived() const {
    return world->senders()[1]->hosts()[0]->open_loop().meter().stream(0)->arrivals();
  }
  [[nodiscard]] uint64_t received() const { return arrived().packets.read(); }

  testing::IgnoredOutcomes ignore;
  config::Topology topology;
  std::unique_ptr<World> world;
};

constexpr const char* kGate = "routers: {gate: {}}";

/// A router that stands still keeps all packets: the stream finds no buffer, and time goes on.
TEST_F(StreamsInTheLab, GoOnAfterTheirBuffersRanOut) {
  make(
      "l: {ends: [a, gate], rate: 10 Gbps},"
      "r: {ends: [gate, b], rate: 10 Gbps}",
      "rate: {packets: 1000000 /s}", kGate);
  world->run_until(100_ms);
  world->stall_router(0, 200_ms);
  finish();
  EXPECT_GT(emitter().departures().no_buffer.read(), 0U);
  EXPECT_GT(received(), 700'000U);
}

TEST_F(StreamsInTheLab, LatencyIsWhatTheWayTakes) {
  // 46 B over Ethernet's 1 Gbit/s take 368 ns; over the shaped 100 Mbit/s, 3680 ns.
  play(
      "l: {ends: [a, gate], rate: 1 Gbps, delay: 2 ms},"
      "r: {ends: [gate, b], rate: 100 Mbps, delay: 3 ms}",
      "rate: {packets: 1000 /s}", kGate);
  EXPECT_EQ(sent(), 1000U);
  EXPECT_EQ(received(), 1000U);
  EXPECT_EQ(arrived().latency.min(), arrived().latency.max());
  EXPECT_NEAR(static_cast<double>(arrived().latency.max()), 5'000'000, 368 + 3680 + 1);
  EXPECT_GE(arrived().latency.min(), 5'000'000U);
}

TEST_F(StreamsInTheLab, ALinkOfHalfTheRateLosesHalf) {
  // 10 000 packets of 46 B a second are 3.68 Mbit/s; the link carries half, and its buffer ten.
  play(
      "l: {ends: [a, gate], rate: 1 Gbps},"
      "r: {ends: [gate, b], rate: 1.84 Mbps, buffer: 1538 B, overhead: 0 B}",
      "rate: {packets: 10000 /s}", kGate);
  EXPECT_EQ(sent(), 10'000U);
  const double buffered = 1538.0 / 46;
  EXPECT_NEAR(static_cast<double>(received()), 5000 + buffered, 1.5);
  EXPECT_EQ(sent() - received(), world->router(0).snapshot().dropped());
  EXPECT_NEAR(static_cast<double>(arrived().latency.max()), 1538 * 8 / 1.84e-3, 250'000)
      << "a full buffer's time";
  EXPECT_EQ(arrived().reordered.read(), 0U);
}

TEST_F(StreamsInTheLab, AFullLineLosesNothing) {
  play(
      "l: {ends: [a, gate], rate: 10 Mbps},"
      "r: {ends: [gate, b], rate: 10 Mbps}",
      "rate: {line: 1}, frames: imix, flows: 1000", kGate);
  EXPECT_EQ(received(), sent());
  EXPECT_NEAR(static_cast<double>(arrived().bytes.read() - 18 * received()), 1e7 / 8, 1500);
}

TEST_F(StreamsInTheLab, LossByChanceIsCounted) {
  play("l: {ends: [a, b], rate: 1 Gbps, delay: 1 ms, loss: 0.1}", "rate: {packets: 100000 /s}");
  EXPECT_EQ(sent(), 100'000U);
  EXPECT_EQ(sent() - received(), world->lost(0, 0));
  EXPECT_NEAR(static_cast<double>(sent() - received()), 1e4, 4 * std::sqrt(1e5 * 0.1 * 0.9));
}

TEST_F(StreamsInTheLab, ReorderingIsCounted) {
  // A packet in a hundred comes a millisecond late, past the hundred behind it.
  const std::string wire = "l: {ends: [a, b], rate: 1 Gbps, delay: 4 ms, reorder: ";
  play(wire + "0.01}", "rate: {packets: 100000 /s}");
  EXPECT_EQ(received(), 100'000U);
  EXPECT_NEAR(static_cast<double>(arrived().reordered.read()), 1e3, 4 * std::sqrt(1e5 * 0.01));
  EXPECT_NEAR(static_cast<double>(arrived().latency.max()), 5e6, 400);
  play(wire + "1}", "rate: {packets: 100000 /s}");
  EXPECT_EQ(arrived().reordered.read(), 0U) << "all late alike is no reordering";
}

}  // namespace
}  // namespace turnpike::lab
