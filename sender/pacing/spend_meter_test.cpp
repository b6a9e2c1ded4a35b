// SPDX-License-Identifier: BSD-3-Clause
#include "sender/pacing/spend_meter.h"

#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

constexpr double kBudget = 2;  // $/s

TEST(SpendMeter, APacedHostNeverWaits) {
  SpendMeter meter;
  for (int i = 0; i < 1000; ++i) {
    const Nanos now = 1_ms * i;
    ASSERT_EQ(meter.ready(0.002, false, kBudget, now), now) << i;
    meter.spend(0.002, kBudget, now);  // 1 ms of the budget
  }
}

// As many packets as flows that are all due at once: each waits for the money of those before it.
TEST(SpendMeter, WhatIsDueAtOnceGoesAsTheBudgetAllows) {
  SpendMeter meter;
  constexpr int kPackets = 200;
  constexpr double kCost = 0.01;  // 5 ms of the budget
  std::priority_queue<std::pair<int64_t, int>, std::vector<std::pair<int64_t, int>>, std::greater<>>
      due;
  for (int i = 0; i < kPackets; ++i) due.emplace(1'000'000'000, i);
  int sent = 0, asked = 0;
  double owed = 0;  // as an edge's token bucket has it
  Nanos last{0};
  while (!due.empty()) {
    const auto [at, i] = due.top();
    due.pop();
    ++asked;
    const Nanos now{at};
    const Nanos turn = meter.ready(kCost, false, kBudget, now);
    if (turn > now) {
      due.emplace(turn.count(), i);
      continue;
    }
    owed = std::max(owed - kBudget * to_seconds(now - last), 0.0) + kCost;
    last = now;
    ASSERT_LE(owed, SpendMeter::kMaxDebt * kBudget + kCost + 1e-9);
    meter.spend(kCost, kBudget, now);
    ++sent;
  }
  EXPECT_EQ(sent, kPackets);
  EXPECT_LE(asked, 3 * kPackets) << "packets wait one behind the other";
  EXPECT_NEAR(to_seconds(last) - 1, kPackets * kCost / kBudget - SpendMeter::kMaxDebt, 0.01);
}

TEST(SpendMeter, TwoPacketsInARowGoHoweverDear) {
  SpendMeter meter;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(meter.ready(1, false, kBudget, 1_s), 1_s);
    meter.spend(1, kBudget, 1_s);
  }
  EXPECT_EQ(meter.ready(1, false, kBudget, 1_s), 1500_ms);
}

TEST(SpendMeter, PacketsAtTheFloorWaitLess) {
  SpendMeter meter;
  meter.spend(0.05, kBudget, 1_s);  // 25 ms of the budget
  EXPECT_GT(meter.ready(0.001, false, kBudget, 1_s), 1_s);
  EXPECT_EQ(meter.ready(0.001, true, kBudget, 1_s), 1_s);
}

TEST(SpendMeter, AnAbsurdCostIsForgotten) {
  for (const double cost : {1e30, HUGE_VAL, std::nan("")}) {
    SpendMeter meter;
    meter.spend(cost, kBudget, 1_s);
    EXPECT_LE(meter.ready(0.001, false, kBudget, 1_s), 5_s);
    EXPECT_EQ(meter.ready(0.001, false, kBudget, 5_s), 5_s);
  }
}

TEST(SpendMeter, WithoutABudgetThereIsNothingToWaitFor) {
  SpendMeter meter;
  meter.spend(1, 0, 1_s);
  meter.spend(1, 0, 1_s);
  EXPECT_EQ(meter.ready(1, false, 0, 1_s), 1_s);
}

// ACKs make a flow ask again and again before its turn.
TEST(SpendMeter, WhoAsksOftenWaitsNoLongerThanALowestGap) {
  SpendMeter meter;
  meter.spend(0.1, kBudget, 1_s);
  Nanos turn{0};
  for (int i = 0; i < 100; ++i) turn = meter.ready(0.02, false, kBudget / 1e6, 1_s + 1_us * i);
  EXPECT_LE(turn, 5_s + 1_ms);
}

TEST(SpendMeter, ADebtIsASpanOfTheBudgetWhateverThatIs) {
  for (const double budget : {kBudget / 1e6, kBudget * 1e6}) {
    SpendMeter meter;
    meter.spend(0.1, kBudget, 1_s);  // 50 ms
    const double cost = budget / 1000;
    EXPECT_GT(meter.ready(cost, false, budget, 1_s + 20_ms), 1_s + 20_ms);
    EXPECT_EQ(meter.ready(cost, false, budget, 1_s + 40_ms), 1_s + 40_ms);
  }
}

}  // namespace
}  // namespace turnpike::sender
