// SPDX-License-Identifier: BSD-3-Clause
#include "router/telemetry/figures_json.h"

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

TEST(FiguresJson, HasCountersOfLinksAndLcores) {
  Figures f;
  f.node = "gate";
  f.time = 1500_ms;
  LinkSnapshot link;
  link.name = "up";
  link.rate = 8_Mbps;
  link.tx_bytes = 12;
  link.drops[static_cast<size_t>(DropReason::kQueueFull)] = 2;
  link.gauges = {{"price", 2e-8}};
  f.counters.links = {link};
  f.counters.drops = link.drops;
  f.waits.resize(1);
  f.ports.push_back({.link = "up", .device = "net_memif0", .up = true, .stats = {}});
  LcoreFigures lcore;
  lcore.busy = 250_ms;
  lcore.stage_cycles[static_cast<size_t>(Stage::kRx)] = 70;
  f.lcores = {lcore};
  const auto json = figures_json(f);
  EXPECT_EQ(json["t"], 1.5);
  EXPECT_EQ(json["packets"]["dropped"], 2);
  EXPECT_EQ(json["links"][0]["price"], 2e-8);
  EXPECT_EQ(json["links"][0]["drops"].dump(), R"({"queue_full":2})");
  EXPECT_EQ(json["links"][0]["port"]["up"], true);
  EXPECT_EQ(json["lcores"][0]["busy_s"], 0.25);
  EXPECT_EQ(json["lcores"][0]["timed_cycles"]["rx"], 70);
}

TEST(FiguresJson, HasTheCustomersThatSpentMost) {
  metrics::LogHistogram waits(16e3);
  waits.record(2e6, 5);
  Figures f;
  for (unsigned c = 0; c < 150; ++c)
    f.accounts.push_back({.customer = "c",
                          .packets = c,
                          .spend = static_cast<double>(c),
                          .limited = true,
                          .bypassed = c == 149,
                          .waits = &waits});
  const auto json = figures_json(f);
  EXPECT_EQ(json["tunnel_customers"], 149) << "one has sent nothing";
  ASSERT_EQ(json["tunnels"].size(), 100U);
  EXPECT_EQ(json["tunnels"][0]["spend"], 149);
  EXPECT_EQ(json["tunnels"][0]["state"], "bypassed");
  EXPECT_EQ(json["tunnels"][1]["state"], "limited");
  EXPECT_EQ(json["tunnels"][0]["waits"]["weights"].size(), metrics::LogHistogram::kBuckets);
  EXPECT_EQ(json["tunnels"][0]["waits"]["sum"], 1e7);
}

}  // namespace
}  // namespace turnpike::router
