// SPDX-License-Identifier: BSD-3-Clause
// A link with classes: each policy's price, and all classes together against bisection.
#include "common/protocols/fcp/classes/link.h"

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/protocols/fcp/protocol.h"
#include "common/units/instrumented.h"
#include "tests/support/gauge.h"

namespace turnpike::fcp::classed_link_test {
namespace {

constexpr double kCapacity = 12.5e6;  // B/s

/// A packet with its header.
struct Sent {
  std::array<uint8_t, kHeaderSize> bytes{};
  LinkPacket packet;

  Sent(unsigned c, const Header& h, uint32_t size = 1000) {
    store(h, bytes.data());
    packet = {.size = size, .queue_class = static_cast<uint8_t>(c)};
  }
  Header arrive(LinkLaw& law, Nanos now, unsigned shard = 0) {
    packet.header = bytes.data();
    const LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 1e6};
    refused = law.arrive(shard, {&packet, 1}, link, now);
    return load(bytes.data());
  }
  uint64_t refused = 0;
};

std::unique_ptr<LinkLaw> make(const std::vector<ClassRule>& rules,
                              std::string_view preset = "paper", unsigned shards = 1) {
  return make_classed_link(preset_values(kProtocol, true, preset), rules, shards, 1);
}

constexpr uint32_t kRtt = 100'000'000;  // ns

// --- standard and priority ----------------------------------------------------------------------

/// Sends flows of constant budget, a packet of each class every millisecond; returns the price that
/// each class's last packet was stamped with. `budget`: $/s by class.
std::vector<double> steady(LinkLaw& law, const std::vector<double>& budget, Nanos& now,
                           int rounds = 1500) {
  std::vector<double> price(budget.size(), 1e-7);
  for (int i = 0; i < rounds; ++i) {
    for (unsigned c = 0; c < budget.size(); ++c) {
      now += 1_ms / static_cast<int64_t>(budget.size());
      if (budget[c] == 0) continue;
      // The rate is budget / price: as many bytes in a millisecond, in one packet.
      const auto size = static_cast<uint32_t>(std::clamp(budget[c] / price[c] * 1e-3, 64.0, 60e3));
      Sent s(c, {.rtt_ns = kRtt, .balance = static_cast<float>(price[c])}, size);
      price[c] = s.arrive(law, now).price;
    }
  }
  return price;
}

// Each class charges its own price at the time of payment, so that a flow that pays the
// last price it learned owes nothing, and one in a dear class cannot pay the link's price.
TEST(ClassedLink, ChargesEachClassItsPrice) {
  ParamValues params = preset_values(kProtocol, true, "paper");
  params[kAudit] = 1;
  constexpr double kFixed = 1e-12;
  const std::vector<ClassRule> rules{
      {.name = "gold", .policy = PricingPolicy::kPriority, .factor = 10},
      {.name = "d", .policy = PricingPolicy::kDeadline, .cap = 2e6, .price = kFixed},
      {.name = "rest"}};
  const auto law = make_classed_link(params, rules, 1, 1);
  Nanos now = 1_s;
  std::array<double, 3> price{1e-7, kFixed, 1e-7};
  for (int i = 0; i < 3000; ++i)
    for (unsigned c = 0; c < 3; ++c) {
      now += 300_us;
      const double bytes = c == 1 ? 500 : std::clamp(9e-4 / price[c], 64.0, 60e3);
      const Header h{.rtt_ns = kRtt,
                     .reserve = c == 1 ? static_cast<float>(kFixed) : 0,
                     .age_ns = 900'000,
                     .balance = static_cast<float>(price[c])};
      const Header out = Sent(c, h, static_cast<uint32_t>(bytes)).arrive(*law, now);
      if (i > 2000) {
        EXPECT_NEAR(out.charged / h.balance, 1, 0.05) << i << " " << c;
        EXPECT_LE(out.charged, h.balance * 1.001F) << i << " " << c;
      }
      price[c] = out.price;
    }
  EXPECT_NEAR(price[0] / price[2], 10, 0.2);
}

TEST(ClassedLink, ClassesOfOnePolicyShareOnePrice) {
  const auto law = make({{.name = "a"}, {.name = "b"}, {.name = "c"}});
  Nanos now = 1_s;
  const auto price = steady(*law, {1, 2, 3}, now);
  for (const double p : price) EXPECT_NEAR(p * kCapacity, 6, 0.1);
}

TEST(ClassedLink, PriorityPaysItsMultipleAndGetsItsPart) {
  for (const double factor : {1.0, 2.0, 10.0, 37.5}) {
    const auto law = make(
        {{.name = "gold", .policy = PricingPolicy::kPriority, .factor = factor}, {.name = "rest"}});
    Nanos now = 1_s;
    const auto price = steady(*law, {1, 1}, now);
    EXPECT_NEAR(price[0] / price[1], factor, factor * 0.02);
    EXPECT_NEAR(price[1] * kCapacity, 1 + 1 / factor, 0.03) << "(W + W/k) / C";
    EXPECT_TRUE(std::isinf(law->weight(0)));
    EXPECT_FALSE(std::isinf(law->weight(1)));
    EXPECT_NEAR(gauge(*law, "price_gold") / gauge(*law, "price_rest"), factor, factor * 0.05);
  }
}

TEST(ClassedLink, PriorityAddsToThePathAndRestoresTheHeader) {
  const auto law =
      make({{.name = "gold", .policy = PricingPolicy::kPriority, .factor = 10}, {.name = "rest"}});
  Nanos now = 1_s;
  const auto price = steady(*law, {1, 1}, now);
  Sent s(0, {.rtt_ns = kRtt, .price = 3e-6F, .reserve = 7e-6F, .balance = 5e-6F, .slot = 0.01F});
  const Header h = s.arrive(*law, now + 1_us);
  EXPECT_NEAR(h.price, 3e-6 + price[0], price[0] * 0.05);
  EXPECT_EQ(h.reserve, 7e-6F);
  EXPECT_EQ(h.balance, 5e-6F);
  EXPECT_EQ(h.slot, 0.01F);
  for (const float bad : {-1.0F, std::nanf(""), 1e30F}) {
    Sent wrong(0, {.rtt_ns = kRtt, .price = bad});
    wrong.arrive(*law, now + 2_us);
    EXPECT_EQ(wrong.refused, 1U) << bad;
    Sent balance(0, {.rtt_ns = kRtt, .balance = bad});
    balance.arrive(*law, now + 3_us);
    EXPECT_EQ(balance.refused, 1U) << bad;
  }
}

TEST(ClassedLink, AFreeLinkIsFreeForEveryClass) {
  const auto law = make(
      {{.name = "gold", .policy = PricingPolicy::kPriority, .factor = 1000}, {.name = "rest"}});
  Sent s(0, {.rtt_ns = kRtt, .balance = 1e-18F});
  EXPECT_LE(s.arrive(*law, 1_s).price, kFree);
}

// --- one price against bisection ----------------------------------------------------------------

// Under both presets the classes' common price is that of one law which counts all their packets.
TEST(ClassedLink, ThePriceIsThatOfOneLawForAllPackets) {
  for (const char* preset : {"paper", "turnpike"}) {
    const ParamValues params = preset_values(kProtocol, true, preset);
    const auto whole = make_link(params, 1, 1);
    const auto law = make({{.name = "a"}, {.name = "b"}, {.name = "c"}}, preset);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    Nanos now = 1_s;
    double worst = 0;
    for (int i = 0; i < 20'000; ++i) {
      now += Nanos(static_cast<int64_t>(uniform(random) * 200'000));
      const auto balance = static_cast<float>(std::exp(-16 + 3 * uniform(random)));
      const Header h{.rtt_ns = 20'000'000,
                     .reserve = static_cast<float>(balance * std::exp(uniform(random) - 0.5)),
                     .preload = static_cast<float>(uniform(random) < 0.1 ? uniform(random) : 0),
                     .balance = balance,
                     .slot = 0.003F};
      Sent one(0, h), classed(static_cast<unsigned>(random() % 3), h);
      const LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 1e6};
      one.packet.header = one.bytes.data();
      whole->arrive(0, {&one.packet, 1}, link, now);
      const double expected = load(one.bytes.data()).price;
      const double price = classed.arrive(*law, now).price;
      if (i > 5000) worst = std::max(worst, std::abs(price / expected - 1));
    }
    // Sums of buckets differ: each law has its own, with ticks and windows of its own.
    EXPECT_LT(worst, 0.15) << preset;
  }
}

// --- stability ----------------------------------------------------------------------------------

TEST(ClassedLink, AStabilityPriceNeverChangesByMoreThanItsFactorInAWindow) {
  for (const unsigned shards : {1U, 2U}) {
    const auto law = make({{.name = "calm", .policy = PricingPolicy::kStability}, {.name = "rest"}},
                          "paper", shards);
    Nanos now = 1_s;
    std::vector<std::pair<Nanos, double>> calm;
    std::vector<double> price{1e-7, 1e-7};
    std::mt19937 random(3);
    double greatest = 0;
    for (int i = 0; i < 8000; ++i) {
      const bool crossed = i / 1000 % 2 == 1;
      for (unsigned c = 0; c < 2; ++c) {
        now += 500_us;
        const double budget = c == 1 && crossed ? 50 : 1;
        const auto size = static_cast<uint32_t>(std::clamp(budget / price[c] * 1e-3, 64.0, 60e3));
        Sent s(c, {.rtt_ns = kRtt, .balance = static_cast<float>(price[c])}, size);
        price[c] = s.arrive(*law, now, shards == 1 ? 0 : random() % shards).price;
        if (c == 0) calm.emplace_back(now, price[c]);
      }
    }
    for (size_t i = 1; i < calm.size(); ++i) {
      for (size_t k = i; k-- > 0 && calm[i].first - calm[k].first < 200_ms;)
        greatest =
            std::max({greatest, calm[i].second / calm[k].second, calm[k].second / calm[i].second});
    }
    EXPECT_LE(greatest, 2.0001) << shards;
    EXPECT_GT(greatest, 1.9) << "the bound was used";
    EXPECT_NEAR(gauge(*law, "change_calm"), greatest, 0.1);
  }
}

TEST(ClassedLink, AStabilityClassThatMayFollowPaysTheCommonPrice) {
  const auto law = make({{.name = "calm", .policy = PricingPolicy::kStability}, {.name = "rest"}});
  Nanos now = 1_s;
  const auto price = steady(*law, {1, 1}, now, 4000);
  EXPECT_NEAR(price[0] / price[1], 1, 0.01);
  EXPECT_NEAR(price[1] * kCapacity, 2, 0.05);
}

TEST(PriceWindow, BoundsEveryPriceOfTheWindow) {
  PriceWindow window;
  std::mt19937 random(5);
  std::vector<std::pair<Nanos, double>> all;
  Nanos now = 1_s;
  for (int i = 0; i < 20'000; ++i) {
    now += Nanos(static_cast<int64_t>(random() % 4'000'000));
    const double wanted = std::exp(static_cast<double>(random() % 2000) * 0.01 - 30);
    const double price = window.range(now, 200_ms).bound(wanted, 2);
    window.record(now, 200_ms, price);
    all.emplace_back(now, price);
    double least = price, greatest = price;
    for (size_t k = all.size(); k-- > 0 && now - all[k].first < 200_ms;) {
      least = std::min(least, all[k].second);
      greatest = std::max(greatest, all[k].second);
    }
    ASSERT_LE(greatest / least, 2 * (1 + 1e-12));
  }
  EXPECT_TRUE(window.range(now + 300_ms, 200_ms).empty());
}

// --- deadline -----------------------------------------------------------------------------------

ClassRule deadline() {
  return {.name = "urgent", .policy = PricingPolicy::kDeadline, .cap = 10e6, .price = 1e-18};
}

/// A flow's packet of 1000 B that asks for `rate` B/s, 0: for nothing.
Sent asking(double rate, float reserve = 1e-18F) {
  return {0,
          {.rtt_ns = 2'000'000,
           .reserve = reserve,
           .preload = static_cast<float>(rate * 0.002 / 1000),
           .balance = 1e-18F}};
}

TEST(ClassedLink, DeadlineGrantsWhatFitsAndMovesTheRest) {
  const auto law = make({deadline(), {.name = "rest"}});
  Sent spender(1, {.rtt_ns = 2'000'000, .preload = 1e9F, .balance = 1e-7F});
  spender.arrive(*law, 1_s);
  std::vector<double> price;
  std::vector<unsigned> queue;
  for (int i = 0; i < 4; ++i) {
    Sent s = asking(3.75e6);
    price.push_back(s.arrive(*law, 1_s + Nanos(i)).price);
    queue.push_back(s.packet.queue_class);
  }
  EXPECT_LE(price[0], kFree);
  EXPECT_LE(price[1], kFree);
  EXPECT_GT(price[2], 1e-9);
  EXPECT_GT(price[3], 1e-9);
  EXPECT_EQ(queue, (std::vector<unsigned>{0, 0, 1, 1}));
  EXPECT_NEAR(gauge(*law, "granted_mbps_urgent"), 60, 5);
  EXPECT_EQ(gauge(*law, "refused_urgent"), 2);
}

TEST(ClassedLink, APacketMovedToBestEffortNeedsRoomThere) {
  const auto law = make({deadline(), {.name = "rest"}});
  LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 10'000};
  for (const double waiting : {0.0, 8'000.0, 9'500.0}) {
    link.queues = {0, waiting};
    std::vector<Sent> sent(4, asking(1e12));
    std::vector<LinkPacket> burst;
    for (Sent& s : sent) {
      s.packet.header = s.bytes.data();
      burst.push_back(s.packet);
    }
    law->arrive(0, burst, link, 1_s);
    double moved = waiting;
    for (const LinkPacket& p : burst) {
      EXPECT_EQ(p.queue_class, 1);
      const bool fits = moved + 1000 <= 10'000;
      EXPECT_EQ(p.admitted, fits) << waiting;
      moved += fits ? 1000 : 0;
    }
  }
}

TEST(ClassedLink, WhoAcceptsAnotherPriceIsBestEffort) {
  const auto law = make({deadline(), {.name = "rest"}});
  for (const float reserve : {0.0F, 1e-9F}) {
    Sent s = asking(1e5, reserve);
    s.arrive(*law, 1_s);
    EXPECT_EQ(s.packet.queue_class, 1);
  }
  Sent bad = asking(1e5);
  wire::store_f32(bad.bytes.data() + kBalanceOffset, -1);
  bad.arrive(*law, 1_s);
  EXPECT_EQ(bad.refused, 1U);
}

TEST(Grants, AGrantLastsWhileItsTrafficComesAndEndsWithIt) {
  Grants grants(10e6, 1e-18, 0.1, 1);
  Nanos now = 1_s;
  const auto send = [&](double preload, double gap) {
    now += from_seconds(gap);
    Sent s(0, {.rtt_ns = 2'000'000,
               .reserve = 1e-18F,
               .preload = static_cast<float>(preload),
               .balance = 1e-18F});
    s.packet.header = s.bytes.data();
    grants.advance(0, now);
    const Grants::Decision decision = grants.decide(0, s.packet);
    grants.settle(0);
    return decision;
  };
  // 4 MB/s: the request, a round trip later its packets of 1000 B every 250 us.
  EXPECT_EQ(send(8, 0), Grants::Decision::kGranted);
  EXPECT_NEAR(grants.granted(), 4e6, 0.3e6);
  now += 2_ms;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(send(0, 250e-6), Grants::Decision::kGranted);
    EXPECT_NEAR(grants.granted(), 4e6, 0.6e6) << i;
  }
  // The last round trip returns the rate, and nothing is left.
  for (int i = 0; i < 8; ++i) send(-1, 250e-6);
  grants.advance(0, now + 1_us);
  EXPECT_NEAR(grants.granted(), 2e6, 0.6e6) << "bytes count for two round trips, returns for one";
  grants.advance(0, now + 20_ms);
  EXPECT_NEAR(grants.granted(), 0, 1);
}

TEST(Grants, TrafficThatNeverAskedIsBounded) {
  Grants grants(1e6, 1e-18, 0.1, 1);
  Nanos now = 1_s;
  int best_effort = 0;
  for (int i = 0; i < 4000; ++i) {
    now += 100_us;  // 10 MB/s
    Sent s(0, {.rtt_ns = 2'000'000, .reserve = 1e-18F, .balance = 1e-18F});
    s.packet.header = s.bytes.data();
    grants.advance(0, now);
    best_effort += grants.decide(0, s.packet) == Grants::Decision::kBestEffort ? 1 : 0;
    grants.settle(0);
  }
  EXPECT_GT(best_effort, 4000 * 0.8);
  EXPECT_LT(grants.granted(), 1.6e6);
}

// --- legacy -------------------------------------------------------------------------------------

TEST(ClassedLink, LegacyLoadComesOffThePricedCapacityUpToItsShare) {
  for (const double load : {0.0, 0.2, 0.4, 0.9}) {
    const auto law =
        make({{.name = "old", .policy = PricingPolicy::kLegacy, .share = 0.4}, {.name = "rest"}});
    EXPECT_TRUE(law->traits().marks_or_drops);
    EXPECT_DOUBLE_EQ(law->weight(0), 0.4);
    Nanos now = 1_s;
    const LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 1e6};
    Nanos due = now;
    double price = 1e-7;
    for (int i = 0; i < 3000; ++i) {
      now += 1_ms;
      if (now >= due) due = law->update(link, now);
      LinkPacket plain{.size = static_cast<uint32_t>(load * kCapacity * 1e-3), .queue_class = 0};
      if (plain.size > 0) law->arrive(0, {&plain, 1}, link, now);
      Sent s(1, {.rtt_ns = kRtt, .balance = static_cast<float>(price)},
             static_cast<uint32_t>(std::clamp(1 / price * 1e-3, 64.0, 60e3)));
      price = s.arrive(*law, now).price;
    }
    EXPECT_NEAR(price * kCapacity, 1 / (1 - std::min(load, 0.4)), 0.05) << load;
    EXPECT_NEAR(gauge(*law, "load_mbps_old"), load * 100, 2) << load;
  }
}

TEST(ClassedLink, LegacyReadsNoHeader) {
  const auto law =
      make({{.name = "old", .policy = PricingPolicy::kLegacy, .share = 0.4}, {.name = "rest"}});
  Sent s(0, {.rtt_ns = kRtt, .price = 2e-7F, .balance = 1e-7F});
  const auto before = s.bytes;
  s.arrive(*law, 1_s);
  EXPECT_EQ(s.bytes, before);
  EXPECT_EQ(s.packet.header, s.bytes.data());
}

// --- trees --------------------------------------------------------------------------------------

std::vector<ClassRule> two_tenants(double large, double small) {
  return {{.name = "a", .parent = 0, .parent_weight = large},
          {.name = "b", .parent = 0, .parent_weight = large},
          {.name = "c", .parent = 1, .parent_weight = small}};
}

TEST(ClassedLink, OuterClassesShareByWeightWhateverTheirBudgets) {
  for (const double weight : {1.0, 2.0, 9.0}) {
    const auto law = make(two_tenants(weight, 1));
    Nanos now = 1_s;
    const auto price = steady(*law, {1, 3, 50}, now, 3000);
    const double large = kCapacity * weight / (weight + 1);
    EXPECT_NEAR(price[0] * large, 4, 0.1) << weight;
    EXPECT_NEAR(price[1] / price[0], 1, 0.02);
    EXPECT_NEAR(price[2] * (kCapacity - large), 50, 1) << weight;
  }
}

TEST(ClassedLink, AnIdleOuterClassLeavesItsShareToTheOthers) {
  const auto law = make(two_tenants(3, 1));
  Nanos now = 1_s;
  auto price = steady(*law, {0, 0, 2}, now, 3000);
  EXPECT_NEAR(price[2] * kCapacity, 2, 0.05);
  price = steady(*law, {1, 0, 2}, now, 3000);
  EXPECT_NEAR(price[2] * kCapacity, 8, 0.2);
  EXPECT_NEAR(price[0] * kCapacity, 1 / 0.75, 0.05);
}

TEST(ClassedLink, LegacyLoadComesOffItsOuterClass) {
  auto rules = two_tenants(1, 1);
  rules[0].policy = PricingPolicy::kLegacy;
  rules[0].share = 0.2;
  const auto law = make(rules);
  Nanos now = 1_s, due = now;
  const LinkState link{.capacity = kCapacity, .queue = 0, .buffer = 1e6};
  std::vector<double> price(3, 1e-7);
  for (int i = 0; i < 3000; ++i) {
    now += 1_ms;
    if (now >= due) due = law->update(link, now);
    LinkPacket plain{.size = static_cast<uint32_t>(0.3 * kCapacity * 1e-3), .queue_class = 0};
    law->arrive(0, {&plain, 1}, link, now);
    for (unsigned c = 1; c < 3; ++c) {
      Sent s(c, {.rtt_ns = kRtt, .balance = static_cast<float>(price[c])},
             static_cast<uint32_t>(std::clamp(1 / price[c] * 1e-3, 64.0, 60e3)));
      price[c] = s.arrive(*law, now).price;
    }
  }
  EXPECT_NEAR(price[1] * kCapacity, 1 / 0.3, 0.1) << "half of the link, less a fifth of it";
  EXPECT_NEAR(price[2] * kCapacity, 1 / 0.5, 0.06);
}

// --- hostile headers ----------------------------------------------------------------------------

TEST(ClassedLink, AnyHeaderLeavesEveryPriceFinite) {
  for (const char* preset : {"paper", "turnpike"}) {
    const auto law = make({{.name = "calm", .policy = PricingPolicy::kStability},
                           deadline(),
                           {.name = "gold", .policy = PricingPolicy::kPriority, .factor = 1e6},
                           {.name = "old", .policy = PricingPolicy::kLegacy, .share = 0.3},
                           {.name = "rest"}},
                          preset);
    std::mt19937_64 random(11);
    Nanos now = 1_s;
    for (int i = 0; i < (kInstrumented ? 10'000 : 50'000); ++i) {
      now += Nanos(static_cast<int64_t>(random() % 100'000));
      Sent s(static_cast<unsigned>(random() % 5), {});
      for (uint8_t& b : s.bytes) b = static_cast<uint8_t>(random());
      if (random() % 2 == 0) store({.rtt_ns = 1'000'000, .balance = 1e-7F}, s.bytes.data());
      s.packet.opens = random() % 8 == 0;
      s.packet.admitted = random() % 8 != 0;
      const double price = s.arrive(*law, now).price;
      if (s.refused == 0 && s.packet.admitted && s.packet.queue_class != 3) {
        ASSERT_TRUE(std::isfinite(price) && price >= 0 && price <= kMaxPrice * 1.01) << price;
      }
    }
    for (unsigned c = 0; c < 5; ++c) EXPECT_GT(law->weight(c), 0);
  }
}

}  // namespace
}  // namespace turnpike::fcp::classed_link_test
