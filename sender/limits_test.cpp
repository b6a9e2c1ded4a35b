// SPDX-License-Identifier: BSD-3-Clause
// Tests limits that the topology sets: an application's rate, a flow's size, a host's budget over
// time, and budgets per flow or per host.
#include "common/protocols/fcp/params.h"
#include "sender/invariant.h"
#include "tests/support/sender_price.h"

namespace turnpike::sender::testing {
namespace {

constexpr double kPrice = 2 / 6.25e6;  // $/B at which 2 $/s buy 50 Mbit/s

/// Checks the invariant of the first host at every step.
struct Guarded {
  explicit Guarded(
      const config::Topology& t,
      const std::function<double(Nanos)>& price_at = [](Nanos) { return kPrice; })
      : Guarded(t, ChannelOptions{.tap = price_tap(price_at)}) {}
  Guarded(const config::Topology& t, const ChannelOptions& channel)
      : invariant(t), world(t, channel, find_protocol) {
    world.after_poll = [this] {
      const auto broken = invariant.check(0, world.totals(0), world.now());
      EXPECT_FALSE(broken.has_value()) << broken.value_or("");
    };
  }
  double mbps(size_t group, Nanos time) {
    const auto acked = [&] { return world.sender(0).groups()[group].acked_bytes.read(); };
    const uint64_t before = acked();
    world.run(world.now() + time);
    return static_cast<double>(acked() - before) * 8e-6 / to_seconds(time);
  }
  double committed(size_t group) {
    return world.sender(0).groups()[group].committed.load(std::memory_order_relaxed);
  }
  Invariant invariant;
  World world;
};

config::Topology one_flow(uint64_t size = config::kEndless) {
  config::Topology t = two_hosts(Budget(2));
  t.flows = {finite(size)};
  return t;
}

TEST(Limit, AnApplicationIsPacedAndPromisesNoMore) {
  config::Topology t = one_flow();
  t.flows[0].limit = 5_Mbps;
  Guarded g(t);
  g.world.run(2_s);
  EXPECT_NEAR(g.mbps(0, 2_s), 5, 0.02);
  EXPECT_NEAR(g.committed(0), kPrice * 5e6 / 8, 2e-3 * kPrice * 5e6 / 8);
}

TEST(Limit, AboveTheShareItDoesNothing) {
  config::Topology t = one_flow();
  t.flows[0].limit = 60_Mbps;
  Guarded g(t);
  g.world.run(2_s);
  EXPECT_NEAR(g.mbps(0, 2_s), 50, 0.3);
  EXPECT_NEAR(g.committed(0), 2, 0.01);
}

// The budgets of two flows are as 1 to 3. Without a price at their port, chance would decide their
// shares, and neither would spend its budget.
TEST(Limit, APortWithAPriceIsSharedByBudget) {
  config::Topology t = two_hosts(Budget(2));
  t.flows = {finite(config::kEndless), finite(config::kEndless)};
  t.flows[1].share = 3;
  t.links[0].directions[0].law = {"fcp", ParamValues(find_protocol("fcp")->link_params)};
  Guarded g(t, ChannelOptions{});
  g.world.run(2_s);
  const double first = g.mbps(0, 1_s), second = g.mbps(1, 1_s);
  EXPECT_NEAR(first + second, 100, 2);
  EXPECT_NEAR(second / first, 3, 0.05);
  EXPECT_NEAR(g.committed(0) + g.committed(1), 2, 0.02);
}

/// Sizes in B of the IP datagrams of a flow whose size counts whole packets of 1500 B.
std::vector<size_t> datagrams(uint64_t size) {
  config::Topology t = one_flow(size);
  t.flows[0].count_packets = true;
  std::vector<size_t> sizes;
  World w(t,
          {.tap =
               [&](size_t from, auto& frame, Nanos) {
                 if (from == 0 && (frame[42] & 15) == 3) sizes.push_back(frame.size() - 14);
                 return true;
               }},
          find_protocol);
  w.run(5_s);
  EXPECT_EQ(w.outcomes().size(), 1U);
  EXPECT_TRUE(w.outcomes().at(0).completed);
  return sizes;
}

TEST(Sizes, MayCountWholePackets) {
  using Sizes = std::vector<size_t>;
  EXPECT_EQ(datagrams(4500), (Sizes{1500, 1500, 1500}));
  EXPECT_EQ(datagrams(4600), (Sizes{1500, 1500, 1500, 100}));
  const size_t least = wire::kIpv4Size + wire::kUdpSize + wire::kHeaderSize + fcp::kHeaderSize + 1;
  EXPECT_EQ(datagrams(3001), (Sizes{1500, 1500, least})) << "a packet carries something";
}

TEST(Changes, OfTheBudgetComeInTime) {
  config::Topology t = one_flow();
  t.flows[0].count = 3;
  t.hosts[0].changes = {{2_s, Budget(0.5)}, {4_s, Budget(3)}};
  Guarded g(t);
  g.world.run(2_s - 1_ns);
  EXPECT_NEAR(g.committed(0), 2, 0.01);
  g.world.run(2_s + 200_ms);
  EXPECT_NEAR(g.committed(0), 0.5, 0.01);
  EXPECT_NEAR(g.mbps(0, 1_s), 12.5, 0.2);
  g.world.run(4_s + 200_ms);
  EXPECT_NEAR(g.committed(0), 3, 0.02);
  EXPECT_NEAR(g.mbps(0, 1_s), 75, 0.5);
}

TEST(EachFlow, HasAllOfTheBudgetAndNoMore) {
  config::Topology t = one_flow();
  t.hosts[0].strategy = "each-flow";
  t.hosts[0].budget = Budget(0.5);
  t.flows[0].count = 4;
  t.flows.push_back(finite(config::kEndless, 1_s));
  t.flows[1].stop = 2_s;
  Guarded g(t);
  g.world.run(3_s);
  EXPECT_NEAR(g.committed(0), 4 * 0.5, 0.01);
  EXPECT_EQ(g.committed(1), 0);
  EXPECT_NEAR(g.mbps(0, 1_s), 50, 0.3);
}

TEST(Floor, OfOnePacketARoundTripIsCountedApart) {
  // At this price the budget buys a tenth of a packet per round trip.
  const double dear = 2 * 0.020 / 150;
  Guarded g(one_flow(), [&](Nanos now) { return now < 1_s ? kPrice : dear; });
  g.world.run(5_s);
  const auto& totals = g.world.totals(0);
  EXPECT_NEAR(totals.unbudgeted_spend.load() / totals.spend.load(), 0.84, 0.08);
}

/// Send times of the data packets of the first round trip.
std::vector<Nanos> first_round(uint64_t size, double speed) {
  config::Topology t = one_flow(size);
  t.flows[0].params = ParamValues(find_protocol("fcp")->flow_params);
  t.flows[0].params[fcp::kFirstRound] = speed;
  std::vector<Nanos> sent;
  World w(t,
          {.tap =
               [&](size_t from, auto& frame, Nanos now) {
                 if (from == 0 && (frame[42] & 15) == 3) sent.push_back(now);
                 return true;
               }},
          find_protocol);
  w.run(40_ms - 1_ns);  // the SYN's round trip and one of data
  return sent;
}

TEST(FirstRound, GoesSoManyTimesFaster) {
  for (const unsigned speed : {1U, 4U}) {
    const auto sent = first_round(config::kEndless, speed);
    ASSERT_EQ(sent.size(), 10U * speed);
    for (size_t i = 0; i < sent.size(); ++i)
      EXPECT_NEAR(to_seconds(sent[i] - 20_ms), 2e-3 / speed * static_cast<double>(i), 5e-6);
  }
}

}  // namespace
}  // namespace turnpike::sender::testing
