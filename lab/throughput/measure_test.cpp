// SPDX-License-Identifier: BSD-3-Clause
// The whole measurement on a virtual clock, where it must find the link's rate.
#include "lab/throughput/measure.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "common/config/load.h"
#include "common/config/resolve.h"
#include "lab/throughput/trial_topology.h"
#include "tests/support/eal.h"

namespace turnpike::lab {
namespace {

config::Topology gate(const std::string& link) {
  auto loaded = config::load_text(
      "hosts: {a: {}, b: {}}\nrouters: {gate: {}}\nlinks:\n"
      "  l: {ends: [a, gate], rate: 10 Gbps, attach: memif}\n"
      "  r: {ends: [gate, b], attach: memif, " +
          link +
          "}\ntraffic: {streams: {load: {from: a, to: b, rate: {line: 0.01}, frames: {sizes: 1018 "
          "B}}}}\n",
      "test");
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  return std::move(*loaded);
}

TEST(Throughput, IsTheLinksRate) {
  // 100 Mbit/s at most are offered; of datagrams of 1000 B the link carries 3750 a second.
  const std::string folder = std::filesystem::temp_directory_path() / "turnpike-throughput-test";
  const auto runner = on_a_virtual_clock(folder);
  unsigned told = 0;
  const auto m = measure(
      gate("rate: 30 Mbps, delay: 1 ms, buffer: 64 KB"),
      {.goals = {0, 0.01}, .resolution = 0.002, .trial = 20_s, .calibrate = false, .latency = true},
      *runner, [&](const std::string&, const Trial& t) {
        ++told;
        EXPECT_TRUE(t.faults.empty());
      });
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(m) << m.error();
  ASSERT_EQ(m->goals.size(), 2U);
  ASSERT_TRUE(m->goals[0].best && m->goals[1].best);
  EXPECT_NEAR(m->goals[0].best->carried_pps, 3750, 3750 * 0.004);
  EXPECT_NEAR(m->goals[1].best->offered_pps, 3750 / 0.99, 3750 * 0.004);
  EXPECT_FALSE(m->goals[0].generator);
  EXPECT_EQ(told, m->trials.size());
  ASSERT_EQ(m->latencies.size(), 4U);
  // Below the link's rate no packet queues: the latency is the link's delay plus 0.8 us to the
  // gate.
  EXPECT_NEAR(m->latencies[0].device.max, 1000, 1);
  EXPECT_NEAR(m->latencies[2].device.p50, 1000, 0.01 * 1000);
}

TEST(Stage, SharesScaleEveryRate) {
  const config::Topology t = at_share(gate("rate: 1 Gbps"), 0.25, 3_s);
  EXPECT_EQ(std::get<config::LineShare>(t.streams[0].rate).share, 0.0025);
  EXPECT_EQ(t.run.duration, 3_s);
}

TEST(Stage, LoopbackJoinsTheHosts) {
  const auto t = loopback(gate("rate: 1 Gbps"), "/tmp");
  ASSERT_TRUE(t) << t.error();
  EXPECT_TRUE(t->routers.empty());
  ASSERT_EQ(t->links.size(), 1U);
  EXPECT_EQ(t->links[0].directions[0].rate, 10_Gbps);
  const auto port = [&](size_t end) {
    return std::get<config::AttachVdev>(t->links[0].ends[end].attachment).arguments;
  };
  EXPECT_EQ(port(0), "net_memif0,role=server,socket-abstract=no,socket=/tmp/loopback-0.sock");
  EXPECT_EQ(port(1), "net_memif1,role=client,socket-abstract=no,socket=/tmp/./loopback-0.sock");
  // The programs can read the topology.
  const auto read = config::load_text(config::resolved_text(at_share(*t, 1, 1_s)), "trial");
  EXPECT_TRUE(read) << read.error().front().text();
  EXPECT_EQ(t->hosts[t->streams.at(0).from].name, "a");
  EXPECT_EQ(t->hosts[t->streams.at(0).to].name, "b");
}

}  // namespace
}  // namespace turnpike::lab
