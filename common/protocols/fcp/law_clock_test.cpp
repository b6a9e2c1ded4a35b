// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/law_clock.h"

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

// A packet of 1500 B every 120 us: kSilence takes 1.92 ms. Of a promise's life kPart is 1.5 ms.
constexpr Nanos kGap = 120_us;
constexpr double kLife = 6e-3;
constexpr Nanos kHeldAfter = 1920_us;

class LawClockTest : public ::testing::Test {
 protected:
  /// Packets of flows that go on, `gap` apart; the last one arrives at now_.
  void send(int packets, Nanos gap = kGap, double expected = 1500) {
    for (int i = 0; i < packets; ++i) {
      now_ += gap;
      law_ = clock_.arrive(now_, 1500);
      clock_.expect(expected, kLife);
    }
  }

  LawClock clock_;
  Nanos now_{0}, law_{0};
};

TEST_F(LawClockTest, RunsWithTheCallersClock) {
  send(1000);
  EXPECT_EQ(law_, now_);
  EXPECT_EQ(clock_.at(now_ + 1_ms), now_ + 1_ms);
}

TEST_F(LawClockTest, StandsStillWhenAllFallSilent) {
  send(1000);
  const Nanos last = law_;
  EXPECT_NEAR(to_seconds(clock_.at(now_ + 20_ms) - last), to_seconds(kHeldAfter), 1e-5);
  EXPECT_EQ(clock_.at(now_ + 20_ms), clock_.at(now_ + 90_ms));
  now_ += 20_ms;
  send(1);
  EXPECT_NEAR(to_seconds(law_ - last), to_seconds(kHeldAfter), 1e-5);
}

TEST_F(LawClockTest, ForgetsAfterALongSilence) {
  send(1000);
  EXPECT_EQ(clock_.at(now_ + 101_ms), law_ + 101_ms);
  send(1, 1_s);
  EXPECT_EQ(law_, now_);
}

TEST_F(LawClockTest, DoesNotWaitForFlowsThatEnd) {
  send(1000);
  send(200, kGap, 0);  // promise nothing more
  send(1, 20_ms);
  EXPECT_EQ(law_, now_);
}

TEST_F(LawClockTest, DoesNotWaitForFewPackets) {
  send(1000, 10_ms);
  send(1, 80_ms);
  EXPECT_EQ(law_, now_);
}

TEST_F(LawClockTest, MakesUpForWhatWasDue) {
  send(1000);
  const Nanos last = law_;
  send(1, 20_ms);
  send(49, 0_ns);
  EXPECT_NEAR(to_seconds(law_ - last), 50 * to_seconds(kGap), 1e-4);
  send(200, 0_ns);  // all that it stood still, and no more
  EXPECT_NEAR(to_seconds(now_ - law_), 0, 1e-9);
}

TEST_F(LawClockTest, RunsAsUsualAfterwards) {
  send(1000);
  send(1, 20_ms);
  send(20);
  const Nanos behind = now_ - law_;
  EXPECT_GT(behind, 17_ms);
  for (int i = 0; i < 100; ++i) {
    send(1, kGap * 2);  // two packets at a time
    send(1, 0_ns);
  }
  EXPECT_EQ(now_ - law_, behind);
}

TEST_F(LawClockTest, NeverGoesBack) {
  uint64_t seed = 1;
  const auto random = [&] { return (seed = seed * 6364136223846793005U + 1442695040888963407U) >> 33; };
  Nanos latest{0};
  for (int i = 0; i < 100000; ++i) {
    now_ += Nanos(static_cast<int64_t>(1) << random() % 30);
    EXPECT_GE(clock_.at(now_), latest);
    latest = clock_.at(now_);
    if (random() % 2 == 0) continue;
    const auto bytes = static_cast<double>(random() % 50000);
    latest = clock_.arrive(now_, bytes + 1);
    EXPECT_LE(latest, now_);
    clock_.expect(bytes, random() % 3 == 0 ? 1e-5 : kLife);
    ASSERT_GE(clock_.at(now_), latest);
  }
}

}  // namespace
}  // namespace turnpike::fcp
