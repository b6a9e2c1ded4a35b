// SPDX-License-Identifier: BSD-3-Clause
// The whole measurement on a virtual clock, where it must find the link's rate.
#include "lab/throughput/measure.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

/// A device behind NICs that carries a share of the line, another one in longer trials.
class Scripted final : public TrialRunner {
 public:
  Scripted(double brief, double longer) : brief_(brief), longer_(longer) {}

  tl::expected<Played, std::string> play(const config::Topology& t) override {
    const double share = std::get<config::LineShare>(t.streams.at(0).rate).share;
    const double line = 1e6 * to_seconds(t.run.duration);
    const double carried = line * (t.run.duration > 1_s ? longer_ : brief_);
    const double sent = line * share;
    const nlohmann::json load{{"offered_packets", sent},
                              {"sent_packets", sent},
                              {"received_packets", std::min(sent, carried)},
                              {"offered_pps", 1e6 * share},
                              {"no_room", 7}};
    const nlohmann::json lcore{{"rx_packets", sent}, {"cycles_per_packet", 80.0}};
    return Played{.summary = {{"streams", {{"load", load}}}},
                  .routers = {},
                  .platforms = {{"router gate", {{"lcores", {lcore}}}}, {"sender", {}}}};
  }

 private:
  double brief_, longer_;
};

tl::expected<Measurement, std::string> measured_at_nics(double brief, double longer) {
  auto loaded = config::load_text(
      "hosts: {a: {}, b: {}}\nrouters: {gate: {}}\nlinks:\n"
      "  l: {ends: [a, gate], rate: 1 Gbps, attach: {a: {pci: '0000:01:00.0'}, gate: {pci: "
      "'0000:02:00.0'}}}\n"
      "  r: {ends: [gate, b], rate: 1 Gbps, attach: memif}\n"
      "traffic: {streams: {load: {from: a, to: b, rate: {line: 1}}}}\n",
      "test");
  EXPECT_TRUE(loaded) << loaded.error().front().text();
  Scripted runner(brief, longer);
  return measure(*loaded, {.goals = {0}, .trial = 1_s, .confirm = 60_s}, runner,
                 [](const std::string&, const Trial&) {});
}

TEST(Throughput, ALongerTrialConfirmsTheRate) {
  const auto m = measured_at_nics(0.5, 0.5);
  ASSERT_TRUE(m) << m.error();
  EXPECT_NE(m->uncalibrated, "") << "no loopback stands for a NIC";
  ASSERT_TRUE(m->goals[0].best && m->goals[0].confirmed);
  EXPECT_EQ(m->goals[0].confirmed->share, m->goals[0].best->share);
  EXPECT_EQ(m->goals[0].best->cycles, 80);
  EXPECT_EQ(m->platforms.size(), 2U);
}

TEST(Throughput, ALongerTrialThatFailsLowersTheRate) {
  const auto lower = measured_at_nics(0.5, 0.485);
  ASSERT_TRUE(lower && lower->goals[0].confirmed);
  EXPECT_LE(lower->goals[0].confirmed->share, 0.485);
  EXPECT_GE(lower->goals[0].confirmed->share, 0.48);
  const auto none = measured_at_nics(0.5, 0.3);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->goals[0].best && !none->goals[0].confirmed && none->goals[0].unconfirmed);
  EXPECT_NE(measurement_text(*none).find("NOT CONFIRMED"), std::string::npos);
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
