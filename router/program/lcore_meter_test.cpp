// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/lcore_meter.h"

#include <gtest/gtest.h>

namespace turnpike::router {
namespace {

TEST(LcoreMeter, AttributesTimeToThePollBefore) {
  LcoreCounters counters;
  LcoreMeter meter(counters);
  meter.before_poll(100_us, false);
  meter.after_poll(true);
  meter.before_poll(107_us, false);  // busy for 7 us
  meter.after_poll(false);
  meter.before_poll(157_us, false);  // idle for 50 us, with a sleep
  meter.after_poll(true);
  meter.before_poll(5157_us, true);  // descheduled: neither
  meter.after_poll(true);
  meter.before_poll(5158_us, false);
  EXPECT_EQ(counters.busy_nanos.read(), 8000U);
  EXPECT_EQ(counters.idle_nanos.read(), 50'000U);
  EXPECT_EQ(counters.busy_polls.read(), 3U);
  EXPECT_EQ(counters.idle_polls.read(), 1U);
}

TEST(LcoreMeter, TimesPollsOfEveryPhaseOfHousekeeping) {
  LcoreCounters counters;
  LcoreMeter meter(counters);
  unsigned timed = 0, at_housekeeping = 0;
  for (unsigned poll = 1; poll <= 255 * 256; ++poll) {
    if (!meter.due()) continue;
    ++timed;
    at_housekeeping += poll % 256 == 0;
  }
  EXPECT_EQ(timed, 256U);
  EXPECT_EQ(at_housekeeping, 1U);
}

uint64_t ticks() {
  static uint64_t now = 1000;
  return now += 10;
}

TEST(StageTimer, AddsAPollOnlyIfItMovedAPacket) {
  StageTimes times;
  StageTimer idle(ticks, times);
  idle.lap(Stage::kRx);
  idle.finish(false);
  EXPECT_EQ(times.polls.read(), 0U);
  StageTimer timer(ticks, times);
  timer.lap(Stage::kRx);
  timer.received(3);
  timer.lap(Stage::kParse);
  timer.lap(Stage::kRx);
  timer.finish(true);
  EXPECT_EQ(times.polls.read(), 1U);
  EXPECT_EQ(times.packets.read(), 3U);
  EXPECT_EQ(times.ticks[static_cast<size_t>(Stage::kRx)].read(), 20U);
  EXPECT_EQ(times.ticks[static_cast<size_t>(Stage::kParse)].read(), 10U);
  EXPECT_EQ(times.ticks[static_cast<size_t>(Stage::kTx)].read(), 0U);
}

}  // namespace
}  // namespace turnpike::router
