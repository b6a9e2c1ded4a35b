// SPDX-License-Identifier: BSD-3-Clause
// The link's law with reserve prices, packet by packet against closed forms.
#include "common/protocols/fcp/reserve_link.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "common/protocols/fcp/protocol.h"
#include "common/protocols/random.h"
#include "common/units/instrumented.h"

namespace turnpike::fcp::reserve_link_test {
namespace {

constexpr LinkState kIdle{.capacity = 12.5e6, .queue = 0, .buffer = 1e6};  // 100 Mbit/s
constexpr uint32_t kRtt = 100'000'000;                                     // ns

ParamValues params() { return preset_values(kProtocol, true, "turnpike"); }

struct Packet {
  std::array<uint8_t, kHeaderSize> bytes{};
  explicit Packet(const Header& h) { store(h, bytes.data()); }
  [[nodiscard]] Header header() const { return load(bytes.data()); }
};

Header arrive(ReserveLink& link, const Header& h, uint32_t size, bool opens, Nanos now,
              const LinkState& state = kIdle, unsigned shard = 0) {
  Packet p(h);
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), size, opens, true}}};
  EXPECT_EQ(link.arrive(shard, burst, state, now), 0U);
  return p.header();
}

double gauge(const ReserveLink& link, std::string_view name) {
  std::array<Gauge, LinkLaw::kMaxGauges> g;
  const size_t n = link.gauges(g);
  for (size_t i = 0; i < n; ++i)
    if (g[i].name == name) return g[i].value;
  return std::numeric_limits<double>::quiet_NaN();
}

/// A steady flow of `budget` $/s that wants `wanted` B/s and sends 1000 B packets at `rate` B/s. It
/// pays the price stamped a round trip ago.
struct SteadyFlow {
  double rate, budget, wanted;
  std::deque<std::pair<Nanos, double>> prices;
  double price = budget / rate;

  [[nodiscard]] Nanos gap() const { return from_seconds(1000 / rate); }
  Header send(ReserveLink& link, Nanos now, const LinkState& state) {
    for (; !prices.empty() && prices.front().first <= now - Nanos(kRtt); prices.pop_front())
      price = prices.front().second;
    const double next = std::min(wanted, budget / price);
    const Header h = arrive(link,
                            {.rtt_ns = kRtt,
                             .reserve = static_cast<float>(budget / wanted),
                             .age_ns = kRtt,
                             .preload = static_cast<float>(next / rate - 1),
                             .balance = static_cast<float>(price),
                             .slot = static_cast<float>(1000 / rate)},
                            1000, false, now, state);
    prices.emplace_back(now, h.price);
    return h;
  }
};

/// Runs a flow from 1 s to 2 s and returns its last header.
Header steady(ReserveLink& link, double rate, double budget, double wanted,
              const LinkState& state = kIdle) {
  SteadyFlow flow{rate, budget, wanted, {}};
  Header last;
  for (Nanos t = 1_s; t < 2_s; t += flow.gap()) last = flow.send(link, t, state);
  return last;
}

TEST(ReserveLink, SynIsPricedAtItsOwnKneeAndTold) {
  ReserveLink link(params(), 1);
  // 30 packets in a round trip of 100 ms (the first guess), 1 $/s.
  const Header h =
      arrive(link, {.preload = 30'000.0F / 84, .balance = 1, .slot = 1}, 84, true, 1_s);
  EXPECT_FLOAT_EQ(h.price, static_cast<float>(kMinPrice.count())) << "300 kB/s of 12.5 MB/s";
  EXPECT_FLOAT_EQ(h.reserve, 300e3) << "what the link reckons with, until it knows a round trip";
  EXPECT_EQ(h.age_ns, 0U) << "nothing is booked";
  ReserveLink known(params(), 1);
  steady(known, 1e6, 1, 1e6);
  const Header later =
      arrive(known, {.preload = 30'000.0F / 84, .balance = 1, .slot = 1}, 84, true, 2_s);
  EXPECT_FLOAT_EQ(later.reserve, 12.5e6 * params()[kStartShare]) << "the first round's rate limit";
}

/// 37 packets of a promise's life, and 375: their sum varies about the capacity.
TEST(ReserveLink, AFlowThatWantsTheWholeLinkPaysNothing) {
  for (const double capacity : {1.25e6, 12.5e6}) {
    const LinkState state{.capacity = capacity, .queue = 0, .buffer = 1e6};
    ReserveLink link(params(), 1);
    SteadyFlow flow{capacity, 1, capacity, {}};
    double most = 0;
    for (Nanos t = 1_s; t < 2_s; t += flow.gap())
      most = std::max<double>(most, flow.send(link, t, state).price);
    EXPECT_FLOAT_EQ(most, static_cast<float>(kMinPrice.count()));
  }
}

TEST(ReserveLink, AFlowThatWantsMoreThanTheLinkPaysItsKnee) {
  const LinkState state{.capacity = 1.25e6, .queue = 0, .buffer = 1e6};
  ReserveLink link(params(), 1);
  const Header last = steady(link, 1.25e6, 1, 1.05 * 1.25e6, state);
  EXPECT_NEAR(last.price, 1 / 1.25e6, 0.05 / 1.25e6);
}

TEST(ReserveLink, TakesItsFirstRoundTripFromTheFirstPacket) {
  ReserveLink link(params(), 1);
  const Header h{.rtt_ns = 200'000, .reserve = 1e-6F, .balance = 1e-18F, .slot = 80e-6F};
  arrive(link, h, 1000, false, 1_s);
  arrive(link, h, 1000, false, 1_s + 80_us);
  EXPECT_NEAR(gauge(link, "average_rtt_ms"), 0.2, 1e-4) << "and not a part of 100 ms";
}

TEST(ReserveLink, ALieAboutTheFirstRoundTripDoesNotLast) {
  ReserveLink link(params(), 1);
  const Header lie{.rtt_ns = kMinRttNs, .reserve = 1e-6F, .balance = 1e-18F, .slot = 1e-6F};
  arrive(link, lie, 1000, false, 1_s - 10_ms);
  const Header last = steady(link, 12.5e6, 1, 2 * 12.5e6);
  EXPECT_NEAR(gauge(link, "average_rtt_ms"), 100, 1);
  EXPECT_NEAR(last.price, 1 / 12.5e6, 0.02 / 12.5e6);
}

TEST(ReserveLink, FirstRoundsThatEndTheirFlowsAreServedInTurn) {
  ReserveLink link(params(), 1);
  for (int i = 0; i < 5; ++i) {
    const Header h =
        arrive(link, {.preload = 30'000.0F / 84, .balance = 1, .slot = 10}, 84, true, 1_s);
    EXPECT_NEAR(h.age_ns, i * (30'000 + 168) / 12.5e6 * 1e9, 1e3) << i;
  }
  EXPECT_NEAR(gauge(link, "booked_bytes"), 5 * 30'168, 1);
  // The shorter the book, the slower it drains, by up to 4 %.
  arrive(link, {.rtt_ns = kRtt, .preload = -1, .balance = 1e-18F}, 84, false, 1_s + 10_ms);
  EXPECT_NEAR(gauge(link, "booked_bytes"), 5 * 30'168 - 0.965 * 125'000, 0.005 * 125'000);
}

// Demand includes only flows whose turn has begun: waiting flows do not raise the price.
TEST(ReserveLink, FirstRoundsThatWaitAskForNoMoreThanTheLinkCarries) {
  ReserveLink link(params(), 1);
  double most = 0;
  for (int i = 0; i < 1000; ++i) {
    arrive(link, {.preload = 30'000.0F / 84, .balance = 1, .slot = 10}, 84, true, 1_s + 100_us * i);
    most = std::max(most, gauge(link, "demand_mbps"));
  }
  EXPECT_GT(most, 90);
  EXPECT_LT(most, 100 * (1 + 0.5)) << "a tick of the wheel and what is promised ahead";
}

// Announcements of flows that never come lose their credit.
TEST(ReserveLink, SynsWithoutFlowsLoseTheirCredit) {
  ReserveLink link(params(), 1);
  steady(link, 6e6, 1, 6e6);
  const Header syn{.preload = 30'000.0F / 84, .balance = 1, .slot = 10};
  const auto booked_by = [&](Nanos t) {
    const double before = gauge(link, "booked_bytes");
    arrive(link, syn, 84, true, t);
    return gauge(link, "booked_bytes") - before;
  };
  EXPECT_NEAR(booked_by(2_s), 30'168, 500);
  for (int i = 1; i < 1000; ++i) booked_by(2_s + 10_ms * i);  // a quarter of the link
  EXPECT_LT(booked_by(12_s), 0.1 * 30'168);
}

TEST(ReserveLink, PriceOfASteadyFlowIsBudgetByCapacity) {
  ReserveLink link(params(), 1);
  const Header last = steady(link, 12.5e6, 1, 8 * 12.5e6);
  EXPECT_NEAR(last.price * 12.5e6, 1, 0.01);
}

/// A price is stamped just after the packet's own promise was added, when a flow with few packets
/// in flight has promised much more than on average.
TEST(ReserveLink, FewPacketsInFlightPayTheirShare) {
  constexpr double kLife = 0.03;  // of a promise, s
  SplitMix64 random(1);
  for (const double jitter : {0.0, 0.1})  // of a gap, at most
    for (int i = 5; i < 160; ++i) {
      const double packets = i / 20.0;  // in a life
      const LinkState slow{.capacity = packets * 1000 / kLife, .queue = 0, .buffer = 1e6};
      ReserveLink link(params(), 1);
      SteadyFlow flow{slow.capacity, 1, 8 * slow.capacity, {}};
      double sum = 0, count = 0;
      for (Nanos t = 1_s; t < 4_s; t += flow.gap()) {
        const double late = jitter * (2 * random.uniform() - 1);
        const Header h = flow.send(link, t + flow.gap() * late, slow);
        if (t > 2_s) {
          sum += h.price * slow.capacity;
          ++count;
        }
      }
      EXPECT_NEAR(sum / count, 1, 0.01) << packets << " packets in a life, jitter " << jitter;
    }
}

TEST(ReserveLink, FlowThatWantsLittleCostsNothing) {
  ReserveLink link(params(), 1);
  const Header last = steady(link, 6e6, 1, 6e6);
  EXPECT_FLOAT_EQ(last.price, static_cast<float>(kMinPrice.count()));
  EXPECT_NEAR(gauge(link, "demand_mbps"), 48, 0.5);
}

TEST(ReserveLink, QueueTakesCapacityFromDemand) {
  ReserveLink link(params(), 1);
  LinkState busy = kIdle;
  busy.queue = 0.125e6;  // a tenth of a round trip: drained within one
  const Header last = steady(link, 12.5e6, 1, 8 * 12.5e6, busy);
  EXPECT_NEAR(last.price * 0.9 * 12.5e6, 1, 0.01);
}

TEST(ReserveLink, TrafficWithoutAPriceIsDemandThatNoPriceLowers) {
  ReserveLink link(params(), 1);
  Header last;
  SteadyFlow flow{7.5e6, 1, 60e6, {}};
  for (int i = 0; i < 12'500; ++i) {  // one packet in 80 us: two of five have no price
    const Nanos t = 1_s + 80_us * i;
    std::array<LinkPacket, 1> plain{{{nullptr, 1000, false, true}}};
    if (i % 5 < 2)
      link.arrive(0, plain, kIdle, t);
    else
      last = flow.send(link, t, kIdle);
  }
  EXPECT_NEAR(last.price * 7.5e6, 1, 0.03);
}

TEST(ReserveLink, UnknownPastIsWorthTodaysPrice) {
  ReserveLink link(params(), 1);
  const Header before = steady(link, 12.5e6, 1, 8 * 12.5e6);
  const Header lie =
      arrive(link, {.rtt_ns = 0xffffffffU, .age_ns = 0xffffffffU, .preload = 0, .balance = 1e12F},
             72, false, 2_s);
  EXPECT_NEAR(lie.price / before.price, 1, 0.01);
}

TEST(ReserveLink, OnePacketAsksForNoMoreThanItsGrowth) {
  for (const float preload : {7.0F, 1e4F, 1e20F}) {
    for (const float reserve : {0.0F, 1e-18F, 1e-9F, 1e12F}) {
      for (const float slot : {0.0F, 1e-9F, 0.01F, 1e12F}) {
        if (kInstrumented && (reserve == 1e-9F || slot == 0.01F)) continue;
        ReserveLink link(params(), 1);
        steady(link, 6e6, 1, 6e6);
        const double honest = gauge(link, "demand_mbps");
        arrive(link,
               {.rtt_ns = kRtt,
                .reserve = reserve,
                .preload = preload,
                .balance = 1e12F,
                .slot = slot},
               1500, false, 2_s);
        // Rate x life is 8 packets, however short the life: a tick is 100 ms/128 at least.
        EXPECT_LE((gauge(link, "demand_mbps") - honest) / 8 * 1e6 * 0.1 / 128, 8.1 * 1500)
            << preload << " " << reserve << " " << slot;
        EXPECT_EQ(gauge(link, "clipped"), preload > 7.1F ? 1 : 0);
      }
    }
  }
}

// Of a flow that always has more to send than its budget buys.
constexpr Header kElastic{
    .rtt_ns = kRtt, .reserve = 1e-8F, .age_ns = kRtt, .balance = 8e-8F, .slot = 80e-6F};

TEST(ReserveLink, LcoresAgreeOnOnePrice) {
  ReserveLink one(params(), 1), four(params(), 4);
  Header alone, shared;
  unsigned shard = 0;
  for (Nanos t = 1_s; t < 2_s; t += 80_us) {
    alone = arrive(one, kElastic, 1000, false, t);
    shared = arrive(four, kElastic, 1000, false, t, kIdle, shard++ % 4);
  }
  EXPECT_NEAR(shared.price / alone.price, 1, 0.03) << "others are read once per tick";
}

// Another lcore's promises fade between its bursts, and its bursts may come at any intervals: of a
// customer that sends too much an edge lets packets pass at random.
TEST(ReserveLink, LcoresAgreeAtAnyIntervals) {
  constexpr double kGap = 160e-6;  // s, 187 packets in a promise's life
  constexpr LinkState kFull{.capacity = 11.9e6, .queue = 0, .buffer = 1e6};
  for (const double randomness : {0.0, 0.5, 1.0}) {
    if (kInstrumented && randomness != 0.5) continue;
    ReserveLink alone(params(), 1), two(params(), 2);
    SplitMix64 random(1);
    double price = 0, shared = 0;
    Nanos next = 1_s + from_seconds(kGap / 2);  // the other lcore has as many packets
    for (Nanos t = 1_s; t < 6_s; t += from_seconds(kGap)) {
      while (next < t) {
        arrive(alone, kElastic, 1000, false, next, kFull);
        arrive(two, kElastic, 1000, false, next, kFull, 1);
        const double exponential = -std::log1p(-random.uniform());
        next += from_seconds(kGap * (1 - randomness + randomness * exponential));
      }
      const double a = arrive(alone, kElastic, 1000, false, t, kFull).price;
      const double b = arrive(two, kElastic, 1000, false, t, kFull, 0).price;
      if (t < 2_s) continue;
      price += a;
      shared += b;
    }
    EXPECT_NEAR(shared / price, 1, 0.0005) << "randomness " << randomness;
  }
}

// Otherwise a full queue would hide the demand that fills it.
TEST(ReserveLink, AFlowGoesOnAfterAPacketThatIsDropped) {
  ReserveLink link(params(), 1);
  Packet p(kElastic);
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, false}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 0U);
  EXPECT_GT(gauge(link, "demand_mbps"), 0);
  EXPECT_EQ(p.header().price, 0) << "not stamped";
}

TEST(ReserveLink, NonsenseIsRefusedBeforeItIsCounted) {
  ReserveLink link(params(), 1);
  Packet p({.rtt_ns = kRtt, .preload = std::numeric_limits<float>::quiet_NaN()});
  std::array<LinkPacket, 1> burst{{{p.bytes.data(), 1000, false, true}}};
  EXPECT_EQ(link.arrive(0, burst, kIdle, 1_s), 1U);
  EXPECT_EQ(gauge(link, "demand_mbps"), 0);
}

}  // namespace
}  // namespace turnpike::fcp::reserve_link_test
