// SPDX-License-Identifier: BSD-3-Clause
// What cannot be played is refused with words; what runs short makes flows slow, not wrong.
#include "sender/sender.h"

#include "sender/test_world.h"

namespace turnpike::sender::testing {
namespace {

std::string refusal(const config::Topology& t) {
  Channel channel({});
  Outcomes outcomes;
  const Plug plug{0, &channel.end(0)};
  const auto made = Sender::make(
      t,
      {.plugs = {&plug, 1}, .pool = turnpike::testing::test_pool().get(), .outcomes = &outcomes});
  return made ? "" : made.error();
}

TEST(SenderMake, RefusesWithWords) {
  config::Topology good = two_hosts();
  good.flows = {finite(1)};
  EXPECT_EQ(refusal(good), "");

  config::Topology t = good;
  t.hosts[0].strategy = "generous";
  EXPECT_EQ(refusal(t), "host a: no strategy \"generous\"");
  t = good;
  t.flows[0].protocol = "carrier-pigeon";
  EXPECT_EQ(refusal(t), "flow: no protocol \"carrier-pigeon\"");
  t = good;
  t.flows[0].packet = Bytes(72);
  EXPECT_NE(refusal(t).find("packets of 72 B do not fit"), std::string::npos);
  t.flows[0].packet = Bytes(9000);
  EXPECT_NE(refusal(t).find("packets of 9000 B do not fit"), std::string::npos);
  t = good;
  config::Workload w;
  w.name = "replay";
  w.from = {0};
  w.to = {1};
  w.arrivals = config::TraceArrivals{};
  w.size = config::TraceSize{"/nonexistent.csv"};
  t.workloads = {w};
  EXPECT_EQ(refusal(t), "/nonexistent.csv: cannot be read");
}

TEST(SenderRun, TooFewBuffersSlowItDownOnly) {
  FixedLaw::reset(90e6);
  config::Topology t = two_hosts();
  t.flows = {finite(500'000), finite(500'000)};
  auto pool = Pool::create("few", {.mbufs = 63, .cache = 0});
  ASSERT_TRUE(pool) << pool.error();
  {
    World w(t, {.delay = 5_ms}, find_fixed, pool->get());
    w.run(60_s);
    ASSERT_EQ(w.outcomes().size(), 2U);
    for (const FlowOutcome& o : w.outcomes()) EXPECT_TRUE(o.completed);
    EXPECT_GT(w.totals(0).out_of_buffers.read(), 0U);
    w.expect_clean();
  }
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(SenderRun, GroupsAndHostsAddUp) {
  FixedLaw::reset(10e6);
  config::Topology t = two_hosts();
  t.flows = {finite(100'000), finite(200'000)};
  t.flows[1].count = 3;
  World w(t, {.loss = 0.05});
  w.run(60_s);
  uint64_t sent = 0, acked = 0;
  for (const GroupTotals& g : w.sender(0).groups()) {
    sent += g.sent_bytes.read();
    acked += g.acked_bytes.read();
    EXPECT_EQ(g.active_flows.load(), 0U);
  }
  EXPECT_EQ(sent, w.totals(0).sent_bytes.read());
  EXPECT_EQ(acked, w.totals(0).acked_bytes.read());
  EXPECT_EQ(w.sender(0).groups()[1].acked_bytes.read(), 3 * (200'000 + 141 * 72U));
  EXPECT_EQ(w.totals(0).opened_flows.read(), 4U);
  EXPECT_EQ(w.totals(0).completed_flows.read(), 4U);
  EXPECT_EQ(w.source().rtts().min(), 20'000'000U);
  EXPECT_EQ(w.source().queueing().max(), 0U);
}

TEST(Sizing, CoversWhatTheTopologySays) {
  config::Topology t = two_hosts();
  config::Flow f = finite(config::kEndless);
  f.count = 100;
  t.flows = {f};
  const std::array<uint32_t, 1> source{0}, sink{1};
  const Sizing s = size_of(t, source);
  EXPECT_GE(s.flows, 100U);
  // 100 Mbit/s for 20 ms, in packets of 1500 B, twice.
  EXPECT_GE(s.records, 2 * 166U);
  EXPECT_GE(s.buffers, s.records);
  EXPECT_LE(size_of(t, sink).flows, 64U) << "nothing starts there";
  EXPECT_GE(sink_flows(t, 1), 100U);
  t.flows[0].count = 1U << 24;
  EXPECT_LE(size_of(t, source).flows, Sizing::kMostFlows);
  EXPECT_LE(size_of(t, source).records, Sizing::kMostRecords);
}

}  // namespace
}  // namespace turnpike::sender::testing
