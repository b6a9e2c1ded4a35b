// SPDX-License-Identifier: BSD-3-Clause
// Lateness is told apart by hand-made polls.
#include "bench/pacing_check.h"

#include <gtest/gtest.h>

namespace turnpike::bench {
namespace {

constexpr Nanos kGap = 100_us;

// One flow's packets, each `late` after its moment and polled for `polled` after it.
class Stream {
 public:
  void send(Nanos polled, Nanos late) {
    due_ += kGap;
    check_.polled(due_ - 1_us);  // found nothing
    check_.polled(due_ + polled);
    check_.sent(0, due_ + late);
  }
  void pause(Nanos time) { due_ += time; }
  [[nodiscard]] const PacingCheck& check() const { return check_; }

 private:
  PacingCheck check_{kGap, 1};
  Nanos due_ = 1_s;
};

TEST(PacingCheck, LatenessBeforeThePollIsTheMachines) {
  Stream s;
  for (int i = 0; i < 200; ++i) s.send(0_ns, 1_us);
  for (int i = 0; i < 200; ++i) s.send(30_us, 31_us);
  // The flow's clock is that of its earliest packets, so a microsecond is nobody's.
  EXPECT_EQ(s.check().lateness().max(), 30'000U);
  EXPECT_EQ(s.check().pacers_own().max(), 1'000U);
  EXPECT_EQ(s.check().gap_errors().max(), 30'000U);
  EXPECT_EQ(s.check().longest(), kGap - 1_us);
}

TEST(PacingCheck, LatenessAfterThePollIsThePacers) {
  Stream s;
  for (int i = 0; i < 200; ++i) s.send(0_ns, 0_ns);
  for (int i = 0; i < 200; ++i) s.send(2_us, 32_us);
  EXPECT_EQ(s.check().lateness().max(), 32'000U);
  EXPECT_EQ(s.check().pacers_own().max(), 30'000U);
}

TEST(PacingCheck, AClockThatBeganTooLateIsSetBack) {
  Stream s;
  s.send(40_us, 40_us);
  for (int i = 0; i < 200; ++i) s.send(0_ns, 0_ns);
  s.send(5_us, 5_us);
  EXPECT_EQ(s.check().lateness().max(), 5'000U);
}

TEST(PacingCheck, WhatWasGivenUpBeginsAnew) {
  Stream s;
  for (int i = 0; i < 200; ++i) s.send(0_ns, 0_ns);
  s.pause(10_ms);
  for (int i = 0; i < 200; ++i) s.send(0_ns, 0_ns);
  EXPECT_EQ(s.check().lateness().max(), 0U);
  EXPECT_EQ(s.check().gap_errors().max(), 10'000'000U);
}

TEST(PacingCheck, AfterALongStallOtherMomentsMayBeAskedFor) {
  constexpr Nanos kLongGap = 5_ms, kPolls = 500_us;
  for (const bool stalls : {false, true}) {
    PacingCheck check(kLongGap, 1);
    Nanos now = 1_s;
    const auto send_at = [&](Nanos moment) {
      for (; now < moment; now += kPolls) check.polled(now);
      check.polled(now = moment);
      check.sent(0, moment);
    };
    for (int i = 0; i < 10; ++i) send_at(now + kLongGap);
    if (stalls) now += 2_ms;  // polls nobody, so that a flow may give up what it missed
    send_at(now + (stalls ? kLongGap - 2_ms : kLongGap) + 300_us);
    for (int i = 0; i < 10; ++i) send_at(now + kLongGap);
    EXPECT_EQ(check.lateness().max(), stalls ? 0U : 300'000U);
  }
}

}  // namespace
}  // namespace turnpike::bench
