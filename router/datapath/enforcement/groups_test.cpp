// SPDX-License-Identifier: BSD-3-Clause
// Links that groups share: each packet's group, at routers that enforce budgets and at others.
#include <array>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "common/config/address.h"
#include "common/protocols/fcp/params.h"
#include "common/protocols/registry.h"
#include "common/wire/layers.h"
#include "tests/support/router_world.h"
#include "tests/support/scripted_law.h"

namespace turnpike::router::test {
namespace {

constexpr size_t kSourceAt = 26;  // of an IPv4 frame

/// Customers by prefix and by link, in two groups and in none; the right link has groups.
config::Topology with_groups(bool enforce) {
  config::Topology t = topology();
  t.groups = {{"heavy", 5}, {"light", 0.5}};
  t.customers = {{.name = "acme", .budget = Budget(1e6), .group = 1},
                 {.name = "beta", .budget = Budget(1e6), .group = 0},
                 {.name = "solo", .budget = Budget(1e6)},
                 {.name = "port", .budget = Budget(1e6), .group = 0, .links = {kNarrow}}};
  t.ipv4_customers = {{*config::parse_ipv4_prefix("10.0.1.0/24"), 0},
                      {*config::parse_ipv4_prefix("192.0.2.0/24"), 1},
                      {*config::parse_ipv4_prefix("198.51.100.0/24"), 2}};
  t.ipv6_customers = {{*config::parse_ipv6_prefix("fd00:1::/64"), 1}};
  config::LawChoice& law = t.links[kRight].directions[0].law;
  law.params = preset_values(*find_protocol("fcp"), /*link=*/true, "turnpike");
  law.params[fcp::kGroups] = static_cast<double>(fcp::Groups::kLink);
  if (enforce)
    t.routers[0].enforcement = {
        .links = {kLeft, kNarrow}, .burst = 250_ms, .unpriced_burst = 20_ms};
  return t;
}

class GroupsOfPackets : public ::testing::TestWithParam<bool> {
 protected:
  GroupsOfPackets() {
    ScriptedLaw::script = {.marks_or_drops = false, .groups = true};
    world.emplace(1, with_groups(GetParam()), RouterOptions{.find = ScriptedLaw::find});
  }
  /// The group in which the law sees a frame that arrives on `link`; -1: it sees none.
  int group_of(const Frame& frame, size_t link = kLeft) {
    ScriptedLaw::law->seen.clear();
    Frame f = frame;
    std::ranges::copy(router_mac(link), f.begin());
    world->arrive(link, f);
    world->poll(world->now);
    world->sent(kRight);
    return ScriptedLaw::law->seen.size() == 1 ? ScriptedLaw::law->seen[0].group : -1;
  }

  std::optional<World> world;
};
INSTANTIATE_TEST_SUITE_P(EdgeAndCore, GroupsOfPackets, ::testing::Bool());

TEST_P(GroupsOfPackets, AreThoseOfTheirCustomers) {
  EXPECT_EQ(ScriptedLaw::law->group_weights, (std::vector<double>{kNoGroupWeight, 5, 0.5}));
  EXPECT_EQ(group_of(fcp({.source = "10.0.1.77"})), 2);
  EXPECT_EQ(group_of(fcp({.source = "192.0.2.3"})), 1);
  EXPECT_EQ(group_of(fcp({.kind = wire::Kind::kSyn, .source = "192.0.2.3"})), 1);
  EXPECT_EQ(group_of(fcp({.v6 = true})), 1);
  EXPECT_EQ(group_of(fcp({.source = "198.51.100.3"})), 0) << "a customer without a group";
  EXPECT_EQ(group_of(fcp({.source = "203.0.113.3"})), 0) << "of no customer";
  EXPECT_EQ(group_of(fcp({.source = "203.0.113.3"}), kNarrow), 1) << "by its link";
}

TEST_P(GroupsOfPackets, ArePacketsWithMoneyAlone) {
  EXPECT_EQ(group_of(plain(300)), 0);
  EXPECT_EQ(group_of(fcp({.kind = wire::Kind::kAck, .datagram = 100, .source = "192.0.2.3"})), 0);
}

/// Passes packets of two customers through FCP's own law: each sends 40 Mbps and asks for 60, which
/// together exceed the link. Returns the last prices that they get, in the order of the budgets.
std::array<float, 2> prices(std::array<float, 2> budgets, unsigned workers) {
  World w(workers, with_groups(false));
  std::array<float, 2> found{};
  constexpr std::array<std::string_view, 2> kSources{"192.0.2.3", "10.0.1.2"};
  constexpr Nanos kSlot{300'000};
  const Nanos begin = w.now;
  for (int i = 0; i < 5000; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      std::array<uint8_t, fcp::kHeaderSize> header;
      const auto reserve = static_cast<float>(budgets[k] * to_seconds(kSlot) / 1500 / 1.5);
      fcp::store({.rtt_ns = 20'000'000,
                  .reserve = reserve,
                  .preload = 0.5,
                  .balance = found[k] > 0 ? std::min(found[k], reserve) : reserve,
                  .slot = static_cast<float>(to_seconds(kSlot))},
                 header.data());
      w.arrive(kLeft, fcp({.source = kSources[k], .header = header.data()}),
               static_cast<unsigned>(i) % workers);
    }
    w.run_until(begin + kSlot * i);
    for (const Frame& f : w.sent(kRight)) {
      const bool first = f[kSourceAt] == 192;
      found[first ? 0 : 1] = price_of(f);
    }
  }
  return found;
}

// Each group's budget is worth its weight: prices in their currencies are proportional to budget by
// weight.
TEST(GroupsAtARouter, SeePricesInTheirOwnMoney) {
  for (const unsigned workers : {1U, 2U})
    for (const float inflation : {1.0F, 1e6F}) {
      const auto [first, second] = prices({1, inflation}, workers);
      EXPECT_NEAR(second / first, 10 * inflation, inflation) << workers << ' ' << inflation;
    }
}

// --- at an edge ----------------------------------------------------------------------------------

class GroupsAtAnEdge : public ::testing::Test {
 protected:
  /// A router at which the right link has this price, in its own money.
  void start(const config::Topology& t, double price) {
    ScriptedLaw::script = {.marks_or_drops = false, .groups = true, .price = price};
    world.emplace(1, t, RouterOptions{.find = ScriptedLaw::find});
  }
  /// Sends such frames at an even pace for a second; returns how many were admitted.
  size_t admitted(const Frame& frame, int per_second) {
    const Nanos begin = world->now;
    for (int i = 0; i < per_second; ++i) {
      world->arrive(kLeft, frame);
      world->poll(begin + Nanos(int64_t{1'000'000'000} / per_second * i));
      world->sent(kRight);
    }
    return static_cast<size_t>(per_second) - world->drops(DropReason::kOverBudget);
  }
  std::optional<World> world;
};

TEST_F(GroupsAtAnEdge, TakeNoExchangeRateFromCustomers) {
  start(with_groups(true), 1e-9);
  for (const uint16_t forged : {0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xbf80, 0x3f80, 0x5f80}) {
    for (const std::string_view source : {"10.0.1.2", "203.0.113.3"}) {
      std::array<uint8_t, fcp::kHeaderSize> header;
      fcp::store({.rtt_ns = 20'000'000, .balance = 1e-9F}, header.data());
      wire::store_be16(header.data() + fcp::kExchangeOffset, forged);
      world->arrive(kLeft, fcp({.source = source, .header = header.data()}));
      world->poll(world->now += 100_ms);
      const Frame out = world->only(kRight);
      EXPECT_EQ(unsound(out), "") << forged;
      wire::UdpFrame at;
      ASSERT_EQ(wire::locate_udp(out, at), wire::FrameError::kNone);
      EXPECT_EQ(fcp::load(out.data() + at.payload + wire::kHeaderSize).exchange, 1) << forged;
    }
  }
  EXPECT_EQ(world->snapshot().dropped(), 0U);
}

// Traffic without a price pays the link's price in the customer's money: its budget is worth its
// part of its group's weight, whatever the group's budgets are.
TEST_F(GroupsAtAnEdge, ChargeUnpricedTrafficInTheCustomersMoney) {
  constexpr double kPrice = 1e-6;
  for (const double inflation : {1e-6, 1.0, 1e6}) {
    config::Topology t = with_groups(true);
    t.customers[0].budget = Budget(inflation);  // of `light`, weight 0.5, as the next one
    t.customers.push_back({.name = "other", .budget = Budget(3 * inflation), .group = 1});
    start(t, kPrice);
    const double worth = 0.5 / 4;
    EXPECT_NEAR(static_cast<double>(admitted(plain(1000), 1000)) * 1000 * kPrice, worth,
                0.03 * worth)
        << inflation;
  }
}

}  // namespace
}  // namespace turnpike::router::test
