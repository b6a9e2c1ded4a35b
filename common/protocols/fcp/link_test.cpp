// SPDX-License-Identifier: BSD-3-Clause
// The link's law against closed forms, alone and with flows.
#include "common/protocols/fcp/link.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/units/instrumented.h"
#include "tests/support/fcp_network.h"

namespace turnpike::fcp {
namespace {

using testing::ToyNetwork;

constexpr double kMbit = 1e6;
constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s

struct Packet {
  std::array<uint8_t, kHeaderSize> bytes{};
  explicit Packet(const Header& h) { store(h, bytes.data()); }
  [[nodiscard]] double price() const { return load(bytes.data()).price; }
};

double price_of(const Link& link) {
  std::array<Gauge, 3> g;
  link.gauges(g);
  return g[0].value;
}

TEST(FcpLink, PriceIncludesThePacketItIsStampedOn) {
  Link link(ParamValues(kLinkParams), 1);
  Packet p({.rtt_ns = 100'000'000, .preload = 0, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
  // d = 2 x 100 ms; I = 1e-6 x 1000 / 0.2 s.
  EXPECT_NEAR(p.price(), 1e-6 * 1000 / 0.2 / 12.5e6, 1e-6 * 4e-10);
}

TEST(FcpLink, PreloadCountsForTheWholeWindowAndQueueRaisesThePrice) {
  Link link(ParamValues(kLinkParams), 1);
  Packet p({.rtt_ns = 100'000'000, .preload = 3, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  LinkState busy = kIdle;
  busy.queue = 0.3e6;  // alpha q/d = 2 x 0.3e6 / 0.2 = 3e6 of 12.5e6
  link.arrive(0, burst, busy, 1_s);
  const double incoming = 1e-6 * 1000 * (1 + 3 * 2) / 0.2;  // eq 4
  EXPECT_NEAR(p.price() / (incoming / 9.5e6), 1, 1e-6);
  busy.queue = 10e6;  // the floor C/2
  Packet q({.rtt_ns = 100'000'000, .preload = -1, .balance = 1e-6F});
  burst[0].header = q.bytes.data();
  link.arrive(0, burst, busy, 1_s);
  EXPECT_NEAR(q.price() / (incoming / 6.25e6), 1, 1e-6) << "-1 brings nothing, takes nothing";
}

TEST(FcpLink, BudgetLeavesAfterTheWindow) {
  Link link(ParamValues(kLinkParams), 1);
  Packet p({.rtt_ns = 100'000'000, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  link.arrive(0, burst, kIdle, 1_s);
  link.arrive(0, {}, kIdle, 1_s + 190_ms);
  EXPECT_GT(price_of(link), 1e-11);
  link.arrive(0, {}, kIdle, 1_s + 205_ms);
  EXPECT_EQ(price_of(link), kMinPrice.count());
}

// Round trips were 100 ms; one of 1 s asks for a window of 2 s, most of which has expired. Counting
// the expired part as silence would lower the price to a third.
TEST(FcpLink, WindowGrowsNoFasterThanTimePasses) {
  Link link(ParamValues(kLinkParams), 1);
  const auto arrive = [&](uint32_t rtt_ms, int count, Nanos now) {
    for (int i = 0; i < count; ++i) {
      Packet p({.rtt_ns = rtt_ms * 1'000'000, .balance = 1e-6F});
      std::array<LinkPacket, 1> one{{{p.bytes.data(), 12'500, false, true}}};  // a full link
      link.arrive(0, one, kIdle, now);
    }
  };
  for (int ms = 0; ms < 3000; ++ms) arrive(100, 1, Nanos(int64_t{ms} * 1'000'000));
  const double before = price_of(link);
  ASSERT_GT(before, 1e-7);
  for (int ms = 3000; ms < 6000; ++ms) {
    arrive(1000, 1, Nanos(int64_t{ms} * 1'000'000));
    ASSERT_NEAR(price_of(link) / before, 1, 0.03) << ms;
  }
}

// Bursts follow so closely that the window may grow only a little at each.
TEST(FcpLink, WindowFollowsLongerAndShorterRoundTripsStepByStep) {
  Link link(ParamValues(kLinkParams), 1);
  LinkState busy = kIdle;
  busy.queue = 0.25e6;
  Nanos now = 1_s;
  const auto play = [&](uint32_t rtt_ms) {
    for (int i = 0; i < 20'000; ++i) {
      Packet p({.rtt_ns = rtt_ms * 1'000'000, .balance = 1e-6F});
      std::array<LinkPacket, 1> one{{{p.bytes.data(), 625, false, true}}};  // a full link
      link.arrive(0, one, busy, now += 50_us);
    }
    return price_of(link);
  };
  const auto expected = [&](double d) { return 12.5 / (12.5e6 - 2 * busy.queue / d); };
  EXPECT_NEAR(play(60) / expected(0.12), 1, 0.01);
  EXPECT_NEAR(play(100) / expected(0.2), 1, 0.01);
  EXPECT_NEAR(play(80) / expected(0.16), 1, 0.01);
}

TEST(FcpLink, NobodyPaidThePriceOfAnIdleMoment) {
  Link link(ParamValues(kLinkParams), 1);
  Packet p({.rtt_ns = 100'000'000, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1'250'000, false, true}}};
  link.arrive(0, burst, kIdle, 1_s);
  const double paid = p.price();
  for (int ms = 10; ms < 400; ms += 10) link.arrive(0, {}, kIdle, 1_s + Nanos(ms * 1'000'000));
  ASSERT_EQ(price_of(link), kMinPrice.count());
  Packet again({.rtt_ns = 100'000'000, .balance = 1e-6F});  // pays the price stamped at 1 s
  burst[0].header = again.bytes.data();
  link.arrive(0, burst, kIdle, 1_s + 400_ms);
  EXPECT_NEAR(again.price() / (paid * 1.25e6 / 0.2 / 12.5e6), 1, 1e-5);
}

TEST(FcpLink, UnpricedTrafficTakesCapacity) {
  Link link(ParamValues(kLinkParams), 1);
  std::array<LinkPacket, 1> plain{{{nullptr, 1'250'000, false, true}}};  // half of 0.2 s
  link.arrive(0, plain, kIdle, 1_s);
  Packet p({.rtt_ns = 100'000'000, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  link.arrive(0, burst, kIdle, 1_s);
  EXPECT_NEAR(p.price() / (1e-6 * 1000 / 0.2 / 6.25e6), 1, 1e-6);
}

TEST(FcpLink, RejectedPacketsLeaveNoTrace) {
  Link link(ParamValues(kLinkParams), 1);
  Packet dropped({.rtt_ns = 100'000'000, .preload = 5, .balance = 1e-3F});
  std::array<LinkPacket, 1> burst{{{dropped.bytes.data(), 1000, false, false}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
  EXPECT_EQ(dropped.price(), 0) << "not stamped";
  EXPECT_EQ(price_of(link), kMinPrice.count());
}

// One packet with a NaN among valid ones: it is refused, and the price is that of the others.
TEST(FcpLink, OneNanDoesNotPoisonTheSums) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Header good{.rtt_ns = 100'000'000, .preload = 1, .balance = 1e-6F};
  std::vector<Header> hostile(11, good);
  hostile[0].price = nan;
  hostile[1].preload = nan;
  hostile[2].balance = nan;
  hostile[3].preload = inf;
  hostile[4].balance = -1e-6F;
  hostile[5].balance = inf;
  hostile[6].preload = -inf;
  hostile[7].rtt_ns = 1;
  hostile[8].preload = 1e-40F;
  hostile[9].exchange = 0;
  hostile[10].price = 1e20F;
  for (const Header& h : hostile) {
    Link link(ParamValues(kLinkParams), 1), clean(ParamValues(kLinkParams), 1);
    Packet a(good), bad(h), b(good), c(good), d(good);
    std::array<LinkPacket, 3> burst{{{a.bytes.data(), 1000, false, true},
                                     {bad.bytes.data(), 1000, false, true},
                                     {b.bytes.data(), 1000, false, true}}};
    std::array<LinkPacket, 2> same{
        {{c.bytes.data(), 1000, false, true}, {d.bytes.data(), 1000, false, true}}};
    EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0b010U);
    EXPECT_EQ(clean.arrive(0, same, kIdle, 1_s), 0U);
    EXPECT_EQ(a.price(), c.price());
    EXPECT_EQ(price_of(link), price_of(clean));
  }
}

// 1e-6 x 1000 x 1e19 / 0.1 s exceeds max_commitment: the promise is clipped to it.
TEST(FcpLink, PromisesBeyondTheBoundAreClippedAndCounted) {
  Link link(ParamValues(kLinkParams), 1);
  Packet p({.rtt_ns = 100'000'000, .preload = 1e19F, .balance = 1e-6F});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
  EXPECT_NEAR(p.price() * 12.5e6 / 1e6, 1, 1e-6) << "max_commitment";
  std::array<Gauge, 4> g;
  ASSERT_EQ(link.gauges(g), 4U);
  EXPECT_EQ(g[3].name, "clipped");
  EXPECT_EQ(g[3].value, 1);
}

// A round trip beyond the link's history must not make the link accept any balance.
TEST(FcpLink, UnknownPastIsWorthTodaysPriceAtMost) {
  Link link(ParamValues(kLinkParams), 1);
  for (Nanos now = 1_s; now < 3_s; now += 80_us) {
    Packet p({.rtt_ns = 100'000'000, .balance = 8e-8F});
    std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
    link.arrive(0, burst, kIdle, now);
  }
  const double before = price_of(link);
  Packet lie({.rtt_ns = 0xffffffffU, .balance = 1e12F});
  std::array<LinkPacket, 1> burst{{{lie.bytes.data(), 72, false, true}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 3_s), 0U);
  EXPECT_NEAR(lie.price() / before, 1, 0.01);
}

TEST(FcpLink, RandomBytesNeverMakeANonsensePrice) {
  std::mt19937_64 draw(3);
  Link link(ParamValues(kLinkParams), 2);
  Nanos now = 1_s;
  for (int i = 0; i < 20000; ++i) {
    std::array<std::array<uint8_t, kHeaderSize>, 8> headers;
    std::array<LinkPacket, 8> burst;
    for (size_t k = 0; k < 8; ++k) {
      for (uint8_t& b : headers[k]) b = static_cast<uint8_t>(draw());
      burst[k] = {headers[k].data(), static_cast<uint32_t>(draw() % 65536), draw() % 9 == 0,
                  draw() % 7 != 0};
    }
    now += Nanos(static_cast<int64_t>(draw() % 50'000'000));
    link.arrive(static_cast<unsigned>(draw() % 2), burst, kIdle, now);
    ASSERT_TRUE(std::isfinite(price_of(link)));
    ASSERT_GE(price_of(link), kMinPrice.count());
    ASSERT_LE(price_of(link), kMaxPrice);
  }
  for (unsigned shard : {0U, 1U, 0U}) link.arrive(shard, {}, kIdle, now + 20_s);
  EXPECT_EQ(price_of(link), kMinPrice.count()) << "and it forgets";
}

// Several lcores at one link converge to the price of a single one. Each calls with an empty burst
// now and then, as housekeeping does, so that its published sums stay current.
TEST(FcpLink, ShardsAddUpToOneLink) {
  std::mt19937_64 draw(5);
  Link one(ParamValues(kLinkParams), 1), many(ParamValues(kLinkParams), 3);
  Nanos now = 1_s;
  double worst = 0;
  for (int i = 0; i < 30000; ++i) {
    now += Nanos(static_cast<int64_t>(draw() % 200'000));
    const Header h{.rtt_ns = static_cast<uint32_t>(20'000'000 + draw() % 60'000'000),
                   .preload = draw() % 4 == 0 ? 0.5F : 0.0F,
                   .balance = 1e-7F * static_cast<float>(1 + draw() % 5)};
    Packet a(h), b(h);
    std::array<LinkPacket, 1> pa{{{a.bytes.data(), 1000, false, true}}};
    std::array<LinkPacket, 1> pb{{{b.bytes.data(), 1000, false, true}}};
    const auto shard = static_cast<unsigned>(draw() % 3);
    one.arrive(0, pa, kIdle, now);
    if (i % 8 == 0)
      for (unsigned idle : {0U, 1U, 2U}) many.arrive(idle, {}, kIdle, now);
    many.arrive(shard, pb, kIdle, now);
    if (i > 2000) worst = std::max(worst, std::fabs(b.price() / a.price() - 1));
  }
  EXPECT_LT(worst, 0.02) << "eight packets of old news in a window of 1000, twice over";
}

// --- whole loops: flows over links, closed forms ------------------------------------------------

TEST(FcpLoop, OneFlowFillsTheLinkAndPays1OverC) {
  ToyNetwork net;
  const size_t link = net.add_link(100_Mbps, 25_ms);
  const size_t flow = net.add_flow({link}, 25_ms, Budget(1), 0_s);
  net.run_until(kInstrumented ? 1_s : 2_s);
  net.delivered_rate(flow);
  net.run_until(kInstrumented ? 2_s : 5_s);
  EXPECT_NEAR(net.delivered_rate(flow).count() / kMbit, 100, 1);
  EXPECT_NEAR(net.price(link), 8e-8, 0.01 * 8e-8);
  EXPECT_LT(net.queue(link), 5e3);
}

TEST(FcpLoop, BudgetsAreShares) {
  ToyNetwork net;
  const size_t link = net.add_link(100_Mbps, 5_ms);
  std::vector<size_t> flows;
  for (const double w : {1.0, 1.0, 2.0})
    flows.push_back(net.add_flow({link}, 5_ms, Budget(w), Nanos(200'000'000) * flows.size()));
  net.on_event = [](const Allowance& f, Budget w) {
    // Half a unit in the last place of a preload, which is binary32.
    ASSERT_LE(f.committed, w.count() * (1 + 0x1p-24)) << "the invariant of a host with one flow";
  };
  net.run_until(2_s);
  for (const size_t f : flows) net.delivered_rate(f);
  net.run_until(4_s);
  EXPECT_NEAR(net.delivered_rate(flows[0]).count() / kMbit, 25, 0.3);
  EXPECT_NEAR(net.delivered_rate(flows[1]).count() / kMbit, 25, 0.3);
  EXPECT_NEAR(net.delivered_rate(flows[2]).count() / kMbit, 50, 0.5);
}

// Figures 12 c,d: proportional fairness over two links, 21.13 / 28.87 / 78.87 Mbps.
TEST(FcpLoop, TwoBottlenecksAreProportionallyFair) {
  ToyNetwork net;
  const size_t l100 = net.add_link(100_Mbps, Nanos(12'500'000));
  const size_t l50 = net.add_link(50_Mbps, Nanos(12'500'000));
  const size_t one = net.add_flow({l50}, Nanos(87'500'000), Budget(1), 0_s);
  const size_t two = net.add_flow({l100}, Nanos(87'500'000), Budget(1), 0_s);
  const size_t both = net.add_flow({l100, l50}, 75_ms, Budget(1), Nanos(1'100'000'000));
  net.run_until(kInstrumented ? 2_s : 5_s);
  for (const size_t f : {both, one, two}) net.delivered_rate(f);
  net.run_until(kInstrumented ? 3_s : 10_s);
  EXPECT_NEAR(net.delivered_rate(both).count() / kMbit, 21.13, 0.3);
  EXPECT_NEAR(net.delivered_rate(one).count() / kMbit, 28.87, 0.4);
  EXPECT_NEAR(net.delivered_rate(two).count() / kMbit, 78.87, 0.8);
}

// Figures 12 a,b: one flow over both links; only the narrow link keeps a price.
TEST(FcpLoop, OnlyTheBottleneckKeepsItsPrice) {
  ToyNetwork net;
  const size_t l100 = net.add_link(100_Mbps, Nanos(12'500'000));
  const size_t l50 = net.add_link(50_Mbps, Nanos(12'500'000));
  const size_t flow = net.add_flow({l100, l50}, 75_ms, Budget(1), 0_s);
  net.run_until(4_s);
  net.delivered_rate(flow);
  net.run_until(kInstrumented ? 4500_ms : 6_s);
  EXPECT_NEAR(net.delivered_rate(flow).count() / kMbit, 50, 0.5);
  EXPECT_LT(net.price(l100), 1e-6 * net.price(l50));
}

// A thousandfold budget joins a full link: preloading keeps it from being swamped.
TEST(FcpLoop, AThousandfoldBudgetJoinsWithoutABurst) {
  ToyNetwork net;
  const size_t link = net.add_link(100_Mbps, 50_ms);
  const size_t small = net.add_flow({link}, 50_ms, Budget(1), 0_s);
  const size_t large = net.add_flow({link}, 50_ms, Budget(1000), 2_s);
  net.run_until(2_s);
  net.forget_max_queue(link);
  net.run_until(Nanos(2'800'000'000));
  net.delivered_rate(small);
  net.delivered_rate(large);
  net.run_until(4_s);
  EXPECT_LT(net.max_queue(link), 0.2 * 12.5e6 * 0.1) << "a fifth of the bandwidth-delay product";
  const double ratio = net.delivered_rate(large) / net.delivered_rate(small);
  EXPECT_GT(ratio, 500);  // a floor of one packet per round trip holds the small flow up
}

// A flow that ends takes its budget back at once; the other has the link within a few round trips.
TEST(FcpLoop, TheOthersTakeOverWhenAFlowEnds) {
  ToyNetwork net;
  const size_t link = net.add_link(100_Mbps, 10_ms);
  const size_t stays = net.add_flow({link}, 10_ms, Budget(1), 0_s);
  net.add_flow({link}, 10_ms, Budget(1), 0_s, 6.25e6);  // half the link for a second
  net.run_until(Nanos(1'300'000'000));
  net.delivered_rate(stays);
  net.run_until(2_s);
  EXPECT_NEAR(net.delivered_rate(stays).count() / kMbit, 100, 2);
}

}  // namespace
}  // namespace turnpike::fcp
