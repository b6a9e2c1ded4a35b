// SPDX-License-Identifier: BSD-3-Clause
// Flows to the receivers of a tree over three routers.
#include <string_view>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "common/units/instrumented.h"
#include "lab/simulator/world.h"
#include "tests/support/eal.h"

namespace turnpike::lab {
namespace {

class FlowOutcomes final : public sender::OutcomeSink {
 public:
  void flow_ended(const sender::FlowOutcome& outcome) override { all.push_back(outcome); }
  std::vector<sender::FlowOutcome> all;
};

struct Settings {
  std::string preset = "turnpike", lcores = "0", loss = "0", flow = "size: 300 KB";
  std::string delay2 = "5 ms", others{};
  int ip_version = 4;
};

/// Source - root - left - receivers 1 and 2, root - right - receiver 3 and, with equal paths, 4.
std::string file(const Settings& s) {
  const std::string router = "{lcores: " + s.lcores + "}";
  const auto leaf = [&](const std::string& name, const std::string& ends, const std::string& rate,
                        const std::string& delay) {
    return "  " + name + ": {ends: [" + ends + "], rate: " + rate + ", delay: " + delay +
           ", loss: " + s.loss + ", buffer: 200 KB, forward: {law: fcp}}\n";
  };
  return "preset: " + s.preset +
         "\n"
         "run: {duration: 20 s}\n"
         "hosts: {source: {budget: 1 $/s}, source1: {budget: 1 $/s}, r1: {}, r2: {}, r3: {}, "
         "r4: {}}\n"
         "routers: {root: " +
         router + ", left: " + router + ", right: " + router +
         "}\n"
         "links:\n"
         "  source-root: {ends: [source, root], rate: 1 Gbps, delay: 5 ms}\n"
         "  source1-left: {ends: [source1, left], rate: 1 Gbps, delay: 5 ms}\n" +
         leaf("root-left", "root, left", "100 Mbps", "5 ms") +
         leaf("root-right", "root, right", "100 Mbps", "5 ms") +
         leaf("leaf1", "left, r1", "10 Mbps", "5 ms") +
         leaf("leaf2", "left, r2", "20 Mbps", s.delay2) +
         leaf("leaf3", "right, r3", "40 Mbps", "5 ms") +
         leaf("leaf4", "right, r4", "100 Mbps", "1 ms") +
         "trees: {tree: {root: source, receivers: [r1, r2, r3, r4]}}\n"
         "traffic:\n  flows:\n"
         "    all: {from: source, to: tree, ip_version: " +
         std::to_string(s.ip_version) + ", " + s.flow + "}\n" + s.others;
}

class MulticastTest : public ::testing::Test {
 protected:
  void build(const Settings& settings) {
    world.reset();
    outcomes.all.clear();
    auto loaded = config::load_text(file(settings), "tree");
    ASSERT_TRUE(loaded) << loaded.error().front().text();
    topology = std::move(*loaded);
    auto made = World::make(topology, outcomes, {.seed = 1});
    ASSERT_TRUE(made) << made.error();
    world = std::move(*made);
  }
  const sender::HostTotals& totals(const std::string& host) {
    for (const sender::Sender* sender : world->senders())
      for (const auto& h : sender->hosts())
        if (topology.hosts[h->index()].name == host) return h->totals();
    throw std::runtime_error(host);
  }
  uint64_t lost() {
    uint64_t n = 0;
    for (size_t l = 0; l < topology.links.size(); ++l) n += world->lost(l, 0) + world->lost(l, 1);
    return n;
  }
  /// Every packet is accounted for and every buffer returned.
  void expect_settled() {
    EXPECT_EQ(world->buffers_in_use(), 0U);
    for (size_t r = 0; r < topology.routers.size(); ++r) {
      const router::Snapshot s = world->router(r).snapshot();
      EXPECT_TRUE(s.conserved()) << topology.routers[r].name;
      EXPECT_EQ(s.held, 0U);
      EXPECT_GT(s.delivered, 0U) << "no answers were joined";
    }
  }

  FlowOutcomes outcomes;
  config::Topology topology;
  std::unique_ptr<World> world;
};

TEST_F(MulticastTest, AllReceiversGetTheWholeFlow) {
  for (const char* preset : {"turnpike", "paper"})
    for (const char* lcores : {"0", "[0, 1]", "[0, 1, 2]"})
      for (const int version : {4, 6}) {
        if (kInstrumented && std::string_view(lcores) != "[0, 1]") continue;
        SCOPED_TRACE(std::string(preset) + " " + lcores + " IPv" + std::to_string(version));
        build({.preset = preset,
               .lcores = lcores,
               .flow = "size: 300 KB, count: 3, counts: packets",
               .ip_version = version});
        world->run_until(20_s);
        ASSERT_EQ(outcomes.all.size(), 3U);
        for (const auto& o : outcomes.all) {
          EXPECT_TRUE(o.completed);
          EXPECT_EQ(o.retransmissions, 0U);
          EXPECT_EQ(topology.destination_name(o.to), "tree");
        }
        for (const char* r : {"r1", "r2", "r3", "r4"}) {
          EXPECT_EQ(totals(r).received_bytes.read(), 900'000U) << r;
          EXPECT_EQ(totals(r).duplicate_packets.read(), 0U) << r;
        }
        // One answer per packet reaches the root.
        EXPECT_EQ(totals("source").duplicate_acks.read(), 0U);
        EXPECT_EQ(totals("source").acked_bytes.read(), 900'000U);
        expect_settled();
      }
}

TEST_F(MulticastTest, LostPacketsAreRepeatedForTheReceiversThatLackThem) {
  for (const char* preset : {"turnpike", "paper"})
    for (const char* lcores : {"0", "[0, 1]"}) {
      SCOPED_TRACE(std::string(preset) + " " + lcores);
      build({.preset = preset,
             .lcores = lcores,
             .loss = "0.01",
             .flow = "size: 1 MB, count: 2, counts: packets"});
      world->run_until(20_s);
      ASSERT_EQ(outcomes.all.size(), 2U);
      EXPECT_GT(lost(), 20U);
      for (const auto& o : outcomes.all) EXPECT_TRUE(o.completed);
      for (const char* r : {"r1", "r2", "r3", "r4"})
        EXPECT_EQ(totals(r).received_bytes.read(), 2'000'000U) << r;
      expect_settled();
    }
}

TEST_F(MulticastTest, TheSenderPaysForEachLinkOnce) {
  // r = 1 / (p1 + p2) with a unicast flow on leaf 1: 10 Mbps shared by halves.
  for (const char* preset : {"turnpike", "paper"})
    for (const char* delay : {"5 ms", "60 ms"}) {  // of another branch: answers come far apart
      SCOPED_TRACE(std::string(preset) + " " + delay);
      build({.preset = preset,
             .lcores = "[0, 1]",
             .flow = "counts: packets",
             .delay2 = delay,
             .others = "    one: {from: source1, to: r1, counts: packets}\n"});
      world->run_until(4_s);
      const uint64_t all = totals("source").acked_bytes.read();
      const uint64_t one = totals("source1").acked_bytes.read();
      world->run_until(8_s);
      const double mbps = 8e-6 / 4;
      // Under `turnpike` the link is 97 % full, as with a unicast flow in place of the tree's.
      const double off = std::string(preset) == "paper" ? 0.1 : 0.5;
      EXPECT_NEAR(static_cast<double>(totals("source").acked_bytes.read() - all) * mbps, 5, off);
      EXPECT_NEAR(static_cast<double>(totals("source1").acked_bytes.read() - one) * mbps, 5, off);
      EXPECT_EQ(totals("source").retransmitted_packets.read(), 0U);
    }
}

}  // namespace
}  // namespace turnpike::lab
