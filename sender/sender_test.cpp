// SPDX-License-Identifier: BSD-3-Clause
// Tests that make() rejects invalid topologies with a message, and that shortages only delay flows.
#include "sender/sender.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/config/load.h"
#include "common/units/instrumented.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {
namespace {

std::string refusal(const config::Topology& t) {
  Channel channel({});
  Outcomes outcomes;
  const PortBinding binding{0, &channel.end(0)};
  const auto made = Sender::make(t, {.bindings = {&binding, 1},
                                     .pool = turnpike::testing::test_pool().get(),
                                     .outcomes = outcomes});
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
  t.flows[0].packet = Bytes(84);
  EXPECT_NE(refusal(t).find("packets of 84 B do not fit"), std::string::npos);
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
  EXPECT_EQ(refusal(t), "/nonexistent.csv: cannot be read: No such file or directory");
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
  EXPECT_EQ(w.sender(0).groups()[1].acked_bytes.read(), 3 * (200'000 + 142 * 84U));
  EXPECT_EQ(w.totals(0).opened_flows.read(), 4U);
  EXPECT_EQ(w.totals(0).completed_flows.read(), 4U);
  const Delays& delays = w.sender(0).hosts()[0]->delays();
  EXPECT_EQ(delays.round_trips.min(), 20'000'000U);
  EXPECT_EQ(delays.queueing.max(), 0U);
}

/// More flows than the 64 entries of the flow table; none ends.
TEST(SenderRun, AFlowWithoutAPlaceIsCountedAndMayStillBeStopped) {
  FixedLaw::reset(1e6);
  config::Topology t = two_hosts();
  t.workloads = {periodic_flows(10, Bytes(1'000'000'000))};
  config::Flow late = finite(1'000'000, 8_s);  // the flow table is full then
  late.stop = 9_s;
  t.flows = {late};
  t.hosts[0].changes = {{9_s, Budget(7)}};
  World w(std::move(t), {.delay = 5_ms});
  w.run(10_s);
  EXPECT_EQ(w.sender(0).lcore().flows.open_flows(), w.sender(0).lcore().flows.capacity());
  EXPECT_EQ(w.source().ledger().budget(), 7) << "a budget does not wait";
  w.sender(0).stop(10_s);
  const uint64_t started = w.totals(0).opened_flows.read();
  EXPECT_EQ(started, w.sender(0).lcore().flows.capacity());
  // One flow every 100 ms from 0 s to 10 s, and the named flow.
  EXPECT_EQ(started + w.totals(0).unstarted_flows.read(), 101U + 1U);
  EXPECT_EQ(w.totals(0).delayed_flows.read(), 0U);
  w.sender(0).abandon(10_s);
}

// A program's last poll comes some time before the end of the run.
TEST(SenderRun, FlowsThatTheLastPollDidNotSeeDidNotWantForAPlace) {
  FixedLaw::reset(20e6);
  config::Topology t = two_hosts();
  t.workloads = {periodic_flows(10, Bytes(1000))};
  World w(std::move(t), {.delay = 5_ms});
  w.run(950_ms);
  w.sender(0).stop(1050_ms);
  EXPECT_EQ(w.totals(0).opened_flows.read(), 10U);
  EXPECT_EQ(w.totals(0).unstarted_flows.read(), 0U);
  w.sender(0).abandon(1050_ms);
}

TEST(SenderRun, WaitingFlowsCountTheirTimeFromTheirArrival) {
  FixedLaw::reset(20e6);
  config::Topology t = two_hosts();
  // The flow table holds the arrivals of 4 s, and each flow takes far longer.
  t.workloads = {periodic_flows(20, Bytes(kInstrumented ? 10'000 : 100'000))};
  t.workloads[0].stop = 10_s;
  World w(std::move(t), {.delay = 2_s});
  w.run(600_s);
  ASSERT_EQ(w.outcomes().size(), 200U);
  EXPECT_GT(w.totals(0).delayed_flows.read(), 0U);
  EXPECT_EQ(w.totals(0).unstarted_flows.read(), 0U);
  std::vector<int64_t> asked;
  for (const FlowOutcome& o : w.outcomes()) asked.push_back(o.start.count());
  std::ranges::sort(asked);
  for (size_t i = 0; i < asked.size(); ++i)
    EXPECT_EQ(asked[i], static_cast<int64_t>(i) * 50'000'000);
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
  // More flows on the same link have no more packets under way.
  t.flows.assign(100, finite(config::kEndless));
  EXPECT_EQ(size_of(t, source).packets, s.packets);
  EXPECT_EQ(size_of(t, source).records, s.records);
  ASSERT_TRUE(s.largest);
  EXPECT_EQ(s.largest->link, 0U);
  t.flows[0].count = 1U << 24;
  EXPECT_LE(size_of(t, source).flows, Sizing::kMaxFlows);
  EXPECT_LE(size_of(t, source).records, Sizing::kMaxRecords);
}

/// One host behind a bottleneck link, many on its other side.
TEST(Sizing, CountsALinkOnceHoweverManyHostsShareIt) {
  const auto star = [](size_t hosts, const std::string& access) {
    std::ostringstream text;
    text << "hosts: { sink: {}";
    for (size_t i = 0; i < hosts; ++i) text << ", h" << i << ": { budget: 1 $/s }";
    text << " }\nrouters: { gate: {} }\nlinks:\n";
    for (size_t i = 0; i < hosts; ++i)
      text << "  a" << i << ": { ends: [h" << i << ", gate], rate: " << access
           << ", delay: 5 ms }\n";
    text << "  narrow: { ends: [gate, sink], rate: 1 Gbps, delay: 45 ms, buffer: 1 BDP }\n";
    text << "traffic:\n  flows:\n";
    for (size_t i = 0; i < hosts; ++i)
      text << "    f" << i << ": { from: h" << i << ", to: sink }\n";
    auto loaded = config::load_text(text.str(), "star");
    EXPECT_TRUE(loaded) << loaded.error().front().text();
    std::vector<uint32_t> all;
    for (uint32_t h = 0; h < loaded->hosts.size(); ++h) all.push_back(h);
    return std::pair(size_of(*loaded, all), *loaded);
  };
  const auto [one, t1] = star(1, "10 Gbps");
  const auto [many, t50] = star(50, "10 Gbps");
  // 1 Gbit/s for 100 ms of propagation and 100 ms of buffer, in packets of 1500 B.
  EXPECT_GE(one.packets, 2 * 16'666U);
  EXPECT_EQ(many.packets, one.packets);
  EXPECT_EQ(t50.links[many.largest->link].name, "narrow");
  // Narrower or equal access links do not add to it: each bounds fewer packets.
  EXPECT_LT(star(50, "0.9 Gbps").first.packets, 2 * one.packets);
  EXPECT_LT(star(50, "1 Gbps").first.packets, 2 * one.packets);
}

TEST(Sizing, ATraceSaysHowManyFlowsAreOpen) {
  const std::string path = ::testing::TempDir() + "burst.csv";
  std::ofstream file(path);
  for (int i = 0; i < 50'000; ++i) file << static_cast<double>(i) * 2e-5 << ",1000\n";
  file.close();
  config::Topology t = two_hosts();
  config::Workload w;
  w.from = {0};
  w.to = {1};
  w.arrivals = config::TraceArrivals{};
  w.size = config::TraceSize{path};
  t.workloads = {w};
  const std::array<uint32_t, 1> source{0};
  EXPECT_EQ(size_of(t, source).flows, 4000U) << "a thousand a second, where it is not read";
  EXPECT_EQ(size_of(t, source, Traces(t)).flows, 50'000U);
  EXPECT_GE(sink_flows(t, 1, Traces(t)), 50'000U);
}

}  // namespace
}  // namespace turnpike::sender::testing
