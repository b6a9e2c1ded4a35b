// SPDX-License-Identifier: BSD-3-Clause
// Queue disciplines against their closed forms.
#include <array>
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "common/protocols/aqm/params.h"
#include "common/protocols/aqm/red.h"
#include "common/protocols/tcp/header.h"
#include "common/protocols/tcp/link.h"
#include "tests/support/gauge.h"

namespace turnpike::aqm {
namespace {

using tcp::kCapable;
using tcp::kInProfile;
using tcp::kMarked;
using tcp::load;
using tcp::make_link;
using tcp::store;

constexpr LinkState kLink{.capacity = 1e6, .queue = 0, .buffer = 300e3};  // 1 B/us, 300 packets
constexpr uint32_t kSize = 1000;

ParamValues params(Discipline d) {
  ParamValues p(kLinkParams);
  p[kDiscipline] = static_cast<double>(d);
  return p;
}
LinkState with_queue(double queue) {
  LinkState s = kLink;
  s.queue = queue;
  return s;
}
struct Packet {
  std::array<uint8_t, tcp::kHeaderSize> bytes{};
  LinkPacket priced;
  explicit Packet(uint32_t flags) : priced{.header = bytes.data(), .size = kSize} {
    store(flags, bytes.data());
  }
  [[nodiscard]] bool marked() const { return (load(bytes.data()) & kMarked) != 0; }
};
struct Outcome {
  bool marked, dropped;
  [[nodiscard]] bool told() const { return marked || dropped; }
};
Outcome pass(LinkLaw& law, const LinkState& state, Nanos now, uint32_t flags = kCapable,
             unsigned shard = 0) {
  Packet p(flags);
  EXPECT_EQ(law.arrive(shard, {&p.priced, 1}, state, now), 0U);
  return {p.marked(), p.priced.action == AqmAction::kDrop};
}

TEST(RedCurve, IsTwoRampsWhereGentleAndALeapWhereNot) {
  const RedCurve gentle{.min_th = 100, .max_th = 200, .max_p = 0.1};
  EXPECT_EQ(gentle.probability(0), 0);
  EXPECT_EQ(gentle.probability(99.9), 0);
  EXPECT_DOUBLE_EQ(gentle.probability(150), 0.05);
  EXPECT_DOUBLE_EQ(gentle.probability(200), 0.1);
  EXPECT_DOUBLE_EQ(gentle.probability(300), 0.55);
  EXPECT_EQ(gentle.probability(400), RedCurve::kAll);
  RedCurve leap = gentle;
  leap.gentle = false;
  EXPECT_DOUBLE_EQ(leap.probability(199.999), gentle.probability(199.999));
  EXPECT_EQ(leap.probability(200), RedCurve::kAll);
}

TEST(Red, TellsEvenlySpacedUniformly) {
  // With p_b/(1 - count p_b) the gap is uniform on 1 .. 1/p_b: mean (1/p_b + 1)/2.
  RedAverage red(SplitMix64(7));
  constexpr double kP = 0.02;
  double gaps = 0, squares = 0;
  int told = 0, since = 0;
  while (told < 20'000) {
    ++since;
    if (red.decide(kP) != AqmAction::kSignal) continue;
    EXPECT_LE(since, 50);
    gaps += since;
    squares += static_cast<double>(since) * since;
    since = 0;
    ++told;
  }
  const double mean = gaps / told;
  EXPECT_NEAR(mean, 25.5, 0.3);
  EXPECT_NEAR(squares / told - mean * mean, (50.0 * 50 - 1) / 12, 5);
}

TEST(Red, TheAverageFollowsArrivalsByTheirWeight) {
  const auto law = make_link(params(Discipline::kRed), 1);
  for (int i = 0; i < 500; ++i) pass(*law, with_queue(50e3), Nanos(int64_t{i} * 1'000'000));
  law->arrive(0, {}, with_queue(50e3), 500_ms);
  EXPECT_NEAR(gauge(*law, "average_queue_kb"), 50 * (1 - std::pow(1 - 0.002, 500)), 1e-6);
  EXPECT_EQ(gauge(*law, "mark_probability"), 0);
}

TEST(Red, AnIdleLinkForgetsAsByThePacketsItCouldHaveSent) {
  ParamValues p = params(Discipline::kRed);
  p[kRedWeight] = 1;
  const auto law = make_link(p, 1);
  pass(*law, with_queue(99e3), 1_s);  // 100 KB with itself: empty 100 ms later
  p[kRedWeight] = 0.002;
  const auto slow = make_link(p, 1);
  for (int i = 0; i < 5000; ++i) pass(*slow, with_queue(99e3), 1_s);
  slow->arrive(0, {}, with_queue(0), 1_s + 100_ms);
  EXPECT_NEAR(gauge(*slow, "average_queue_kb"), 99, 0.01);
  slow->arrive(0, {}, with_queue(0), 1_s + 350_ms);  // 250 packets' time without a packet
  EXPECT_NEAR(gauge(*slow, "average_queue_kb"), 99 * std::pow(1 - 0.002, 250), 0.01);
}

TEST(Red, MarksAtTheRateOfItsCurve) {
  // At half way between the thresholds p_b = 0.05: one of 10.5 packets signals.
  const auto law = make_link(params(Discipline::kRed), 1);
  for (int i = 0; i < 10'000; ++i) pass(*law, with_queue(150e3), 1_s);
  int marked = 0, dropped = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Outcome o = pass(*law, with_queue(150e3), 1_s);
    marked += o.marked ? 1 : 0;
    dropped += o.dropped ? 1 : 0;
  }
  EXPECT_NEAR(marked, 20'000 / 10.5, 60);
  EXPECT_EQ(dropped, 0);
  for (int i = 0; i < 200'000; ++i)
    dropped += pass(*law, with_queue(150e3), 1_s, 0).dropped ? 1 : 0;
  EXPECT_NEAR(dropped, 200'000 / 10.5, 300) << "what cannot be marked";
}

TEST(Red, BeyondTwiceTheUpperThresholdNothingPasses) {
  ParamValues p = params(Discipline::kRed);
  p[kRedMinTh] = 0.1;
  p[kRedMaxTh] = 0.3;
  p[kRedWeight] = 1;
  const auto law = make_link(p, 1);
  EXPECT_TRUE(pass(*law, with_queue(200e3), 1_s).dropped);
}

TEST(Red, TwoLcoresAverageAsOne) {
  const auto one = make_link(params(Discipline::kRed), 1),
             two = make_link(params(Discipline::kRed), 2);
  for (int i = 0; i < 1000; ++i) {
    const Nanos now(int64_t{i} * 1'000'000);
    const LinkState state = with_queue(40e3 + 20e3 * std::sin(i * 0.01));
    pass(*one, state, now);
    pass(*two, state, now, kCapable, static_cast<unsigned>(i) % 2);
  }
  one->arrive(0, {}, with_queue(40e3), 1_s);
  two->arrive(0, {}, with_queue(40e3), 1_s);
  EXPECT_NEAR(gauge(*two, "average_queue_kb") / gauge(*one, "average_queue_kb"), 1, 0.01);
}

TEST(Verdicts, OrdinaryTrafficIsSignalledAndOwnIsMarkedOrDropped) {
  ParamValues p = params(Discipline::kRed);
  p[kRedWeight] = 1;
  p[kRedMaxP] = 1;
  for (const auto signal : {SignalBy::kMark, SignalBy::kDrop}) {
    p[kSignal] = static_cast<double>(signal);
    const auto law = make_link(p, 1);
    EXPECT_TRUE(law->traits().marks_or_drops);
    LinkPacket ordinary{.size = kSize};
    law->arrive(0, {&ordinary, 1}, with_queue(199.99e3), 1_s);
    const Outcome capable = pass(*law, with_queue(199.99e3), 1_s),
                  not_capable = pass(*law, with_queue(199.99e3), 1_s, 0);
    const bool mark = signal == SignalBy::kMark;
    EXPECT_EQ(ordinary.action, mark ? AqmAction::kSignal : AqmAction::kDrop);
    EXPECT_EQ(capable.marked, mark);
    EXPECT_EQ(capable.dropped, !mark);
    EXPECT_TRUE(not_capable.dropped);
  }
  EXPECT_FALSE(make_link(params(Discipline::kDropTail), 1)->traits().marks_or_drops);
}

TEST(Rem, ThePriceIntegratesLoadAndQueue) {
  const auto law = make_link(params(Discipline::kRem), 1);
  const Nanos next = law->update(kLink, 1_s);
  EXPECT_EQ(next, 1_s + 10_ms) << "ten packets' time";
  for (int i = 0; i < 30; ++i) pass(*law, kLink, 1_s);
  law->update(with_queue(150e3), next);
  // In packets: gamma (30 - 10 + 0.1 (150 - 100)).
  EXPECT_NEAR(gauge(*law, "marking_price"), 0.001 * 25, 1e-12);
  EXPECT_NEAR(gauge(*law, "mark_probability"), 1 - std::pow(1.001, -0.025), 1e-12);
  law->update(kLink, next + 20_ms);  // nothing for twenty packets' time, nothing queued
  EXPECT_EQ(gauge(*law, "marking_price"), 0) << "0.025 - 0.001 (20 + 10)";
}

TEST(Rem, MarksWithOneMinusPhiToMinusPrice) {
  ParamValues p = params(Discipline::kRem);
  p[kRemGamma] = 1;
  const auto law = make_link(p, 1);
  law->update(kLink, 1_s);
  law->update(with_queue(300e3), 1_s + 10_ms);
  const double price = -10 + 0.1 * 200;
  ASSERT_NEAR(gauge(*law, "marking_price"), price, 1e-9);
  int told = 0;
  for (int i = 0; i < 100'000; ++i) told += pass(*law, kLink, 1_s).marked ? 1 : 0;
  const double expected = 100'000 * (1 - std::pow(1.001, -price));
  EXPECT_NEAR(told, expected, 4 * std::sqrt(expected));
}

TEST(Avq, TheVirtualCapacityFollowsItsEquation) {
  const auto law = make_link(params(Discipline::kAvq), 1);
  double capacity = 0.98e6, queue = 0;
  Nanos now = 1_s;
  for (int i = 0; i < 2000; ++i) {
    const Nanos gap = Nanos(i % 3 == 0 ? 1'500'000 : 700'000);
    const double dt = i == 0 ? 0 : to_seconds(gap);
    if (i > 0) now += gap;
    queue = std::max(0.0, queue - capacity * dt);
    const bool full = queue + kSize > kLink.buffer;
    if (!full) queue += kSize;
    capacity = std::max(0.0, std::min(capacity + 0.15 * 0.98 * 1e6 * dt, 1e6) - 0.15 * kSize);
    EXPECT_EQ(pass(*law, kLink, now).told(), full) << i;
    ASSERT_NEAR(gauge(*law, "virtual_capacity_mbps"), capacity * 8e-6, 1e-9) << i;
    ASSERT_NEAR(gauge(*law, "virtual_queue_kb"), queue * 1e-3, 1e-9) << i;
  }
}

TEST(Avq, OverloadIsToldSoThatWhatPassesFitsTheVirtualLink) {
  // At load 1.2 C the capacity falls by alpha (1.2 - 0.98) C per second. The virtual queue is full
  // when 0.22 t + 0.033 t^2 / 2 = 0.3 s, at 1.25 s; from then on every packet beyond it signals.
  const auto law = make_link(params(Discipline::kAvq), 1);
  Nanos now = 1_s;
  int told = 0;
  for (int i = 0; i < 12'000; ++i) {
    told += pass(*law, kLink, now).told() ? 1 : 0;
    now += Nanos(833'333);
  }
  EXPECT_NEAR(gauge(*law, "virtual_capacity_mbps"), 8 * (0.98 - 0.33), 0.01);
  EXPECT_NEAR(told, 1000 * (0.22 * (10 - 1.25) + 0.033 / 2 * (100 - 1.25 * 1.25)), 10);
}

TEST(Avq, TwoLcoresSeeOneVirtualQueue) {
  const auto one = make_link(params(Discipline::kAvq), 1),
             two = make_link(params(Discipline::kAvq), 2);
  Nanos now = 1_s;
  for (int i = 0; i < 3000; ++i) {
    pass(*one, kLink, now);
    pass(*two, kLink, now, kCapable, static_cast<unsigned>(i) % 2);
    ASSERT_NEAR(gauge(*two, "virtual_capacity_mbps"), gauge(*one, "virtual_capacity_mbps"), 0.01);
    ASSERT_NEAR(gauge(*two, "virtual_queue_kb"), gauge(*one, "virtual_queue_kb"), 2.1);
    now += 950_us;
  }
}

TEST(Rio, OutPacketsHearOfAQueueThatInPacketsDoNotMake) {
  ParamValues p = params(Discipline::kRio);
  p[kRedWeight] = 1;
  const auto law = make_link(p, 1);
  // 20 packets of out-traffic wait: p_out = 0.5 * 10/20 = 0.25, so one of 2.5; p_in = 0.
  int in = 0, out = 0;
  for (int i = 0; i < 20'000; ++i) {
    out += pass(*law, with_queue(20e3), 1_s, kCapable).told() ? 1 : 0;
  }
  for (int i = 0; i < 39; ++i)
    in += pass(*law, with_queue(39e3), 1_s, kCapable | kInProfile).told() ? 1 : 0;
  EXPECT_NEAR(out, 20'000 / 2.5, 150);
  EXPECT_EQ(in, 0);
  // Those 39 wait now; 31 more make an average of in-packets near 70: told at last.
  for (int i = 0; i < 40; ++i) pass(*law, with_queue(80e3), 1_s, kCapable | kInProfile);
  int now_signalled = 0;
  for (int i = 0; i < 10; ++i)
    now_signalled += pass(*law, with_queue(80e3), 1_s, kCapable | kInProfile).told() ? 1 : 0;
  EXPECT_GT(gauge(*law, "mark_probability_in"), 0.02);
  EXPECT_GT(now_signalled, 0);
  // They leave: in-packets are free again.
  for (int i = 0; i < 89; ++i) {
    Packet gone(kInProfile);
    law->depart(0, {&gone.priced, 1}, kLink, 1_s);
  }
  pass(*law, with_queue(20e3), 1_s, kCapable | kInProfile);
  law->arrive(0, {}, with_queue(20e3), 1_s);
  EXPECT_LT(gauge(*law, "average_in_kb"), 11);
}

TEST(DropTail, HasNothingToSay) {
  const auto law = make_link(params(Discipline::kDropTail), 1);
  EXPECT_FALSE(pass(*law, with_queue(299e3), 1_s).told());
  EXPECT_FALSE(law->traits().wants_dequeue);
}

}  // namespace
}  // namespace turnpike::aqm
