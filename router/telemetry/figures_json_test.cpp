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

}  // namespace
}  // namespace turnpike::router
