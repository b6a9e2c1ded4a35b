// SPDX-License-Identifier: BSD-3-Clause
#include "router/datapath/enforcement/misbehaviour.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::router::misbehaviour_test {
namespace {

constexpr float kSize = 1500;
constexpr float kRtt = 0.02F;  // s

/// A customer that sends a packet each 0.6 ms.
struct Sender {
  Misbehaviour watch{};
  double now = 0;  // s
  size_t passed = 0, blocked = 0;
  bool first = false, slow = false;

  static uint32_t tick(double s) { return Misbehaviour::tick_of(from_seconds(s)); }

  /// Each packet announces `ratio` times its own payment.
  void run(double seconds, float ratio) {
    for (const double end = now + seconds; now < end; now += 6e-4) {
      if (watch.blocked(tick(now))) {
        ++blocked;
        continue;
      }
      ++passed;
      watch.send(
          {.paid = 1e-3F, .expected = 1e-3F * ratio, .first = first, .slow = slow, .rtt = kRtt},
          kSize, tick(now));
    }
  }
};

TEST(Misbehaviour, WhoSendsWhatItAnnouncesIsNeverBlocked) {
  Sender s;
  for (const float ratio : {1.0F, 0.85F, 1.2F}) s.run(20, ratio);
  EXPECT_EQ(s.blocked, 0U);
}

TEST(Misbehaviour, ShortDeviationsAreNoOffence) {
  Sender s;
  for (int i = 0; i < 30; ++i) {
    s.run(0.4, i % 2 == 0 ? 8 : 0);  // a rate that grows fast, or flows that end
    s.run(0.5, 1);
  }
  EXPECT_EQ(s.blocked, 0U);
}

TEST(Misbehaviour, OverPreloadingAndFalseCancellationAreBlocked) {
  for (const float ratio : {9.0F, 1.5F, 0.5F, 0.0F}) {
    Sender s;
    s.run(1.5, ratio);
    EXPECT_GT(s.blocked, 0U) << ratio;
    // Five windows of eight round trips pass.
    EXPECT_NEAR(static_cast<double>(s.passed), 5 * 8 * kRtt / 6e-4, 60) << ratio;
  }
}

TEST(Misbehaviour, BlocksGrowAndEnd) {
  Sender s;
  s.run(60, 9);
  // 0.8 s of windows between blocks of 1, 2, 4, 8, 16 and 32 s.
  EXPECT_LT(static_cast<double>(s.passed), 6.2 * 0.9 / 6e-4);
  s.run(70, 1);
  s.blocked = 0;
  s.run(10, 1);
  EXPECT_EQ(s.blocked, 0U);
}

// Times wrap around after 52 days.
TEST(Misbehaviour, AnOldBlockNeverComesBack) {
  for (const bool sends : {false, true}) {
    Sender s;
    s.run(1.5, 9);
    s.run(30, 1);
    for (double day = 1; day < 110; day += sends ? 1.0 / 24 : 1.0 / 1440) {
      s.now = day * 86'400;
      s.blocked = 0;
      if (sends) {
        s.run(0.2, 1);
      } else {
        s.blocked += s.watch.blocked(Sender::tick(s.now));
      }
      // Without packets, the end of the block may be less than kMaxBlock away once more.
      ASSERT_TRUE(s.blocked == 0 || (!sends && std::fmod(day + 0.005, 52.125) < 0.01)) << day;
    }
  }
}

TEST(Misbehaviour, ExpectsNoAnnouncementOfFirstRounds) {
  Sender s;
  s.first = true;
  for (int i = 0; i < 2000; ++i) {  // flows of 30 packets that end with their first round
    s.watch.open(30 * kSize);
    s.run(30 * 6e-4, 0);
  }
  EXPECT_EQ(s.blocked, 0U);
  // SYNs cover no more than they announced.
  Sender liar;
  liar.first = true;
  liar.watch.open(30 * kSize);
  liar.run(3, 0);
  EXPECT_GT(liar.blocked, 0U);
}

TEST(Misbehaviour, ExpectsNoAnnouncementOfAPacketPerRoundTrip) {
  Sender s;
  s.slow = true;
  s.run(30, 0);
  EXPECT_EQ(s.blocked, 0U);
}

TEST(Misbehaviour, AnyNumbersAreHarmless) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float odd[] = {0, 1e-38F, 1e30F, kInf, 1e-7F};
  std::mt19937 random(1);
  Sender s;
  for (int i = 0; i < 100'000; ++i)
    s.watch.send({.paid = odd[random() % 5],
                  .expected = odd[random() % 3] * (random() % 2 == 0 ? 1.0F : -1.0F),
                  .first = random() % 2 == 0,
                  .slow = random() % 2 == 0,
                  .rtt = odd[random() % 5]},
                 kSize, random());
}

}  // namespace
}  // namespace turnpike::router::misbehaviour_test
