// SPDX-License-Identifier: BSD-3-Clause
// Tests each bound: kept, broken, and with its exceptions.
#include "sender/invariant.h"

#include <gtest/gtest.h>

#include "common/protocols/fcp/params.h"

namespace turnpike::sender {
namespace {

struct Watch {
  explicit Watch(const std::string& strategy = "equal-budget", double budget = 2)
      : invariant(topology(strategy, budget)) {
    totals.budget = budget;
  }
  static config::Topology topology(const std::string& strategy, double budget) {
    config::Topology t;
    t.hosts = {{.name = "a"}, {.name = "b", .budget = Budget(budget), .strategy = strategy}};
    return t;
  }
  /// Pays `rate` $/s for `time` in steps of 10 ms; returns the first complaint, or an empty string.
  std::string pay(double rate, Nanos time) {
    for (const Nanos end = now + time; now < end;) {
      now += 10_ms;
      totals.spend = totals.spend + rate * 0.010;
      if (auto broken = invariant.check(1, totals, now)) return *broken;
    }
    return "";
  }
  Invariant invariant;
  HostTotals totals;
  Nanos now{0};
};

TEST(Invariant, KeptAllIsWell) {
  Watch w;
  w.totals.committed = 2 * (1 + 0.9e-6);
  EXPECT_EQ(w.pay(2.08, 5_s), "");
}

TEST(Invariant, CommittedTooMuch) {
  Watch w;
  EXPECT_EQ(w.pay(1, 1_s), "");
  w.totals.committed = 2 * (1 + 2e-6);
  const std::string broken = w.pay(1, 1_s);
  EXPECT_NE(broken.find("b is committed to"), std::string::npos) << broken;
  EXPECT_NE(broken.find("1.01 s"), std::string::npos) << broken;
}

TEST(Invariant, PaidTooMuchInAnySecond) {
  Watch w;
  EXPECT_EQ(w.pay(1, 10_s), "");
  EXPECT_EQ(w.pay(3, 500_ms), "") << "a second that began cheaply";
  const std::string broken = w.pay(3, 500_ms);
  EXPECT_NE(broken.find("b paid in a second 2.1"), std::string::npos) << broken;
}

TEST(Invariant, TheFloorIsCountedApart) {
  Watch w;
  EXPECT_EQ(w.pay(2, 2_s), "");
  for (int i = 0; i < 300; ++i) {
    w.totals.unbudgeted_spend = w.totals.unbudgeted_spend + 0.010;
    ASSERT_EQ(w.pay(3, 10_ms), "");
  }
}

TEST(Invariant, AFallenBudgetMayTakeItsTime) {
  Watch w;
  w.totals.committed = 2;
  EXPECT_EQ(w.pay(2, 2_s), "");
  w.totals.budget = 1;
  EXPECT_EQ(w.pay(2, 100_ms), "") << "still giving back";
  w.totals.committed = 1;
  EXPECT_EQ(w.pay(1, 2_s), "");
  w.totals.committed = 1.5;
  EXPECT_NE(w.pay(1, 10_ms), "") << "it was down already";
}

TEST(Invariant, WhatWasUnderWayIsPaidAtTheOldBudget) {
  for (const auto& [late, fine] : {std::pair{40_ms, true}, {200_ms, false}}) {
    Watch w;
    w.totals.rtt = (20_ms).count();
    w.totals.committed = 2;
    EXPECT_EQ(w.pay(2, 2_s), "");
    w.totals.budget = w.totals.committed = 0.2;
    w.pay(2, late);
    std::string broken;
    for (int i = 0; i < 200 && broken.empty(); ++i) broken = w.pay(0.2, 10_ms);
    EXPECT_EQ(broken.empty(), fine) << broken;
  }
}

TEST(Invariant, WhileItFallsNothingIsAdded) {
  Watch w;
  w.totals.committed = 2;
  EXPECT_EQ(w.pay(2, 1_s), "");
  w.totals.budget = 1;
  w.totals.committed = 2.1;
  EXPECT_NE(w.pay(2, 10_ms), "");
}

TEST(Invariant, ARaisedBudgetHoldsAtOnce) {
  Watch w;
  EXPECT_EQ(w.pay(2, 1_s), "");
  w.totals.budget = w.totals.committed = 4;
  EXPECT_EQ(w.pay(4, 2_s), "");
}

TEST(Invariant, EachFlowHasABudget) {
  Watch w("each-flow", 1);
  w.totals.opened_flows.add(3);
  w.totals.active_flows = 3;
  w.totals.committed = 3;
  EXPECT_EQ(w.pay(3, 2_s), "");
  w.totals.active_flows = 2;
  EXPECT_NE(w.pay(2, 10_ms), "") << "3 $/s for two flows";
  w.totals.committed = 2;
  EXPECT_EQ(w.pay(2, 500_ms), "") << "three were open in this second";
  EXPECT_EQ(w.pay(2, 1_s), "");
  EXPECT_NE(w.pay(3, 1_s), "");
}

// Packets of 0.1 $ each, ten of which a budget of 1 $/s pays for: twelve of them may be in a
// second.
TEST(Invariant, ASecondMayHoldTwoPacketsMore) {
  for (const auto& [packets, fine] : {std::pair{12, true}, {13, false}}) {
    config::Topology t = Watch::topology("equal-budget", 1);
    t.flows.resize(1);
    t.flows[0].from = 1;
    t.flows[0].packet = Bytes(1000);
    Invariant invariant(t);
    HostTotals totals;
    totals.budget = 1;
    totals.price = 1e-4;
    bool kept = true;
    for (int i = 0; i <= 100; ++i) {
      if (i % 8 == 1 && i / 8 < packets) totals.spend = totals.spend + 0.1;
      kept &= !invariant.check(1, totals, 10_ms * i);
    }
    EXPECT_EQ(kept, fine) << packets;
  }
}

TEST(Invariant, DeclaredCheatersAreNotChecked) {
  config::Topology t = Watch::topology("equal-budget", 1);
  t.hosts.push_back({.name = "c", .budget = Budget(1)});
  config::Flow honest;
  honest.from = 2;
  honest.params = ParamValues(fcp::kFlowParams);
  config::Flow cheater = honest;
  cheater.from = 1;
  cheater.params[fcp::kFirstLie + fcp::kBudgetLie] = 10;
  t.flows = {honest, cheater};
  Invariant invariant(t);
  HostTotals totals;
  totals.budget = 1;
  totals.committed = 10;
  EXPECT_FALSE(invariant.check(1, totals, 10_ms));
  EXPECT_TRUE(invariant.check(2, totals, 10_ms)) << "the others still are";
}

}  // namespace
}  // namespace turnpike::sender
