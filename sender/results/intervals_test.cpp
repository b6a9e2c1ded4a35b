// SPDX-License-Identifier: BSD-3-Clause
// Tests steady intervals and entitled rates of the demo's and other topologies.
#include "sender/results/intervals.h"

#include <gtest/gtest.h>

#include "common/protocols/fcp/params.h"
#include "common/protocols/registry.h"
#include "sender/results/test_topology.h"

namespace turnpike::sender {
namespace {

TEST(Intervals, DemoHasFour) {
  const config::Topology t = demo_topology();
  const auto steady = steady_intervals(t, planned_busy(t));
  ASSERT_EQ(steady.size(), 4u);
  const double from[] = {0.5, 2.5, 4.5, 11.5}, to[] = {2, 4, 11, 15};
  const double mbps[][3] = {{100, 0, 0}, {50, 50, 0}, {25, 25, 50}, {100 / 3., 0, 200 / 3.}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(steady[i].from, from_seconds(from[i]));
    EXPECT_EQ(steady[i].to, from_seconds(to[i]));
    for (size_t h = 0; h < 3; ++h)
      EXPECT_NEAR(steady[i].hosts[h].count() / 1e6, mbps[i][h], 1e-3) << i << " " << h;
    EXPECT_EQ(steady[i].hosts[3].count(), 0);
    ASSERT_EQ(steady[i].bottlenecks.size(), 1u);
    EXPECT_EQ(steady[i].bottlenecks[0], (config::Hop{3, 0}));
  }
}

TEST(Intervals, OverheadShrinksWhatIsLeftForDatagrams) {
  config::Topology t = demo_topology();
  t.links[3].directions[0].overhead = Bytes(38);
  EXPECT_NEAR(payload_fraction(t.links[3].directions[0], Bytes(1500)), 1500. / 1538, 1e-12);
  const auto steady = steady_intervals(t, {});
  EXPECT_NEAR(steady[2].hosts[2].count() / 1e6, 50 * 1500. / 1538, 1e-3);
  t.flows[0].packet = t.flows[1].packet = Bytes(500);  // prices per byte stay equal
  const auto mixed = steady_intervals(t, {});
  EXPECT_NEAR(mixed[2].hosts[2] / mixed[2].hosts[0], 2, 1e-5);
  EXPECT_NEAR(mixed[2].flows[0] / mixed[2].flows[1], 1, 1e-5);
}

TEST(Intervals, AHostSplitsItsBudgetByShareAmongFlowsThatAreOpen) {
  config::Topology t = demo_topology();
  t.flows.push_back(t.flows[2]);  // carol again: three flows of share 0.5 from 8 s on
  t.flows.back().share = 0.5;
  t.flows.back().count = 3;
  t.flows.back().start = 8_s;
  const auto steady = steady_intervals(t, {});
  ASSERT_EQ(steady.size(), 5u);
  EXPECT_NEAR(steady[2].flows[2].count() / 1e6, 50, 1e-3);
  EXPECT_NEAR(steady[3].flows[2].count() / 1e6, 20, 1e-3);
  EXPECT_NEAR(steady[3].flows[3].count() / 1e6, 30, 1e-3);
  EXPECT_NEAR(steady[3].hosts[2].count() / 1e6, 50, 1e-3);
}

TEST(Intervals, NothingIsClaimedBesideFiniteFlows) {
  config::Topology t = demo_topology();
  t.flows.push_back(t.flows[0]);
  t.flows.back().size = 1000000;
  t.flows.back().start = 6_s;
  const auto planned = steady_intervals(t, planned_busy(t));
  ASSERT_EQ(planned.size(), 3u);
  EXPECT_EQ(planned.back().to, 6_s);
  const Busy known[] = {{.from = 6_s, .to = 7_s}};  // the flow's real end
  const auto after = steady_intervals(t, known);
  ASSERT_EQ(after.size(), 5u);
  EXPECT_EQ(after[3].from, from_seconds(7.5));
  EXPECT_NEAR(after[3].hosts[0].count() / 1e6, 25, 1e-3);
}

TEST(Intervals, NorForOtherSchemesAndStrategies) {
  config::Topology t = demo_topology();
  t.flows[1].protocol = "tcp";
  EXPECT_EQ(steady_intervals(t, {}).size(), 2u);  // before bob, after bob
  t.hosts[0].strategy = "background";
  EXPECT_TRUE(steady_intervals(t, {}).empty());
}

TEST(Intervals, NorWhereGroupsShareALink) {
  config::Topology t = demo_topology();
  config::LawChoice& law = t.links[3].directions[0].law;
  law = {.protocol = "fcp", .params = preset_values(*find_protocol("fcp"), true, "turnpike")};
  EXPECT_FALSE(steady_intervals(t, {}).empty());
  law.params[fcp::kGroups] = 1;
  EXPECT_TRUE(steady_intervals(t, {}).empty());
}

TEST(Intervals, ShortPhasesVanish) {
  config::Topology t = demo_topology();
  t.run.settle = 2_s;
  const auto steady = steady_intervals(t, {});
  ASSERT_EQ(steady.size(), 2u);
  EXPECT_EQ(steady[0].from, 6_s);
  EXPECT_EQ(phases(t, {}).size(), 4u);
}

}  // namespace
}  // namespace turnpike::sender
