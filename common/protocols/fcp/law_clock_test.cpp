// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/law_clock.h"

#include <gtest/gtest.h>

namespace turnpike::fcp {
namespace {

// A packet of 1500 B every 120 us: kSilence takes 480 us, kPart of a promise's life 3 ms.
constexpr Nanos kGap = 120_us;
constexpr double kLife = 6e-3;
constexpr Nanos kHeldAfter = 3_ms;

class LawClockTest : public ::testing::Test {
 protected:
  /// Packets of flows that continue, `gap` apart; the last one arrives at `now`.
  void send(int packets, Nanos gap = kGap, double expected = 1500) {
    for (int i = 0; i < packets; ++i) {
      now += gap;
      law = clock.arrive(now, size);
      clock.expect(expected, kLife, size);
    }
  }

  LawClock clock;
  Nanos now{0}, law{0};
  double size = 1500;  // B
};

TEST_F(LawClockTest, RunsWithTheCallersClock) {
  send(1000);
  EXPECT_EQ(law, now);
  EXPECT_EQ(clock.at(now + 1_ms), now + 1_ms);
}

TEST_F(LawClockTest, StandsStillWhenAllFallSilent) {
  send(1000);
  const Nanos last = law;
  EXPECT_NEAR(to_seconds(clock.at(now + 20_ms) - last), to_seconds(kHeldAfter), 1e-5);
  EXPECT_EQ(clock.at(now + 20_ms), clock.at(now + 90_ms));
  now += 20_ms;
  send(1);
  EXPECT_NEAR(to_seconds(law - last), to_seconds(kHeldAfter), 1e-5);
}

TEST_F(LawClockTest, ForgetsAfterALongSilence) {
  send(1000);
  EXPECT_EQ(clock.at(now + 101_ms), law + 101_ms);
  send(1, 1_s);
  EXPECT_EQ(law, now);
}

TEST_F(LawClockTest, DoesNotWaitForFlowsThatEnd) {
  send(1000);
  send(200, kGap, 0);  // none of the flows continues
  send(1, 20_ms);
  EXPECT_EQ(law, now);
}

TEST_F(LawClockTest, DoesNotStopBetweenLargePackets) {
  size = 9000;
  send(1000, 4_ms, size);
  EXPECT_EQ(law, now);
}

TEST_F(LawClockTest, DoesNotWaitForFewPackets) {
  send(1000, 30_ms);
  send(1, 80_ms);
  EXPECT_EQ(law, now);
}

TEST_F(LawClockTest, MakesUpForWhatWasDue) {
  send(1000);
  const Nanos last = law;
  send(1, 20_ms);
  send(49, 0_ns);
  EXPECT_NEAR(to_seconds(law - last), 50 * to_seconds(kGap), 2 * to_seconds(kGap));
  send(200, 0_ns);  // the whole stop, and no more
  EXPECT_NEAR(to_seconds(now - law), 0, 1e-9);
}

TEST_F(LawClockTest, RunsAsUsualAfterwards) {
  send(1000);
  send(1, 20_ms);
  send(20);
  const Nanos behind = now - law;
  EXPECT_GT(behind, 16_ms);
  for (int i = 0; i < 100; ++i) {
    send(1, kGap * 2);  // two packets at a time
    send(1, 0_ns);
  }
  EXPECT_EQ(now - law, behind);
}

TEST_F(LawClockTest, DoesNotStopBetweenBursts) {
  const auto burst = [&] {
    send(1, 1_ms);  // more than kPartAfter of a life
    send(8, 0_ns);
  };
  for (int i = 0; i < 200; ++i) burst();
  EXPECT_EQ(law, now);
  send(1, 20_ms);
  EXPECT_GT(now - law, 16_ms);
  const Nanos behind = now - law;
  for (int i = 0; i < 90; ++i) burst();  // less than kRecent lives
  EXPECT_LE(now - law, behind);
}

TEST_F(LawClockTest, LearnsHowLongHostsSleep) {
  send(1000);
  send(1, 20_ms);
  const auto burst = [&] {
    send(1, 1500_us);  // twice kPartAfter of a life
    send(12, 0_ns);
  };
  for (int i = 0; i < 200; ++i) burst();
  const Nanos behind = now - law;
  for (int i = 0; i < 1000; ++i) burst();
  EXPECT_LE(now - law, behind);
  const Nanos last = law;
  send(1, 20_ms);
  EXPECT_LT(law - last, kHeldAfter + kGap);
}

TEST_F(LawClockTest, FindsOneStallAfterTheOther) {
  for (int stall = 0; stall < 20; ++stall) {
    send(100);
    const Nanos last = law;
    send(1, 20_ms);
    EXPECT_LT(law - last, kHeldAfter + kGap);
  }
}

TEST_F(LawClockTest, NeverGoesBack) {
  uint64_t seed = 1;
  const auto random = [&] {
    return (seed = seed * 6364136223846793005U + 1442695040888963407U) >> 33;
  };
  Nanos latest{0};
  for (int i = 0; i < 100000; ++i) {
    now += Nanos(static_cast<int64_t>(1) << random() % 30);
    EXPECT_GE(clock.at(now), latest);
    latest = clock.at(now);
    if (random() % 2 == 0) continue;
    const auto bytes = static_cast<double>(random() % 50000);
    latest = clock.arrive(now, bytes + 1);
    EXPECT_LE(latest, now);
    clock.expect(bytes, random() % 3 == 0 ? 1e-5 : kLife, size);
    ASSERT_GE(clock.at(now), latest);
  }
}

}  // namespace
}  // namespace turnpike::fcp
