// SPDX-License-Identifier: BSD-3-Clause
// Counts by how much a host has overspent its budget, as a token bucket on its packets' way does.
#pragma once

#include <algorithm>

#include "common/units/units.h"

namespace turnpike::sender {

/// Each flow's pace keeps to its part of the budget, but flows that have waited for a packet's
/// price may all pay at once, and a token bucket of an edge router (router/datapath/enforcement)
/// keeps no savings. So packets of a host that owes more than kMaxDebt of its budget wait, one
/// behind the other.
class SpendMeter {
 public:
  static constexpr double kMaxDebt = 0.02;  // s of the budget
  /// The same for a packet at its flow's floor, which no budget pays for.
  static constexpr double kMaxDebtAtFloor = 0.03;
  /// Of what no budget pays for, a packet counts for at most so many s of the budget: one flow with
  /// an absurd price must not stop the others.
  static constexpr double kMaxUnpaid = 0.01;

  /// When a packet may go that costs `cost` $, of a host with `budget` $/s: `now`, or a later time
  /// at which it is to ask again. Two packets in a row may go, however dear they are.
  Nanos ready(double cost, bool at_floor, double budget, Nanos now) {
    if (budget <= 0) return now;  // no time pays for anything: the laws' floor is the pace
    follow(budget);
    const double most = (at_floor ? kMaxDebtAtFloor : kMaxDebt) * budget;
    const double beyond = debt(budget, now) - std::max(most, cost);
    if (beyond <= 0) return now;
    // A flow that asks again before its turn, as ACKs may make it, takes another turn.
    const Nanos latest = now + from_seconds(kMaxWait);
    const Nanos turn = min(max(next_turn_, now + seconds_of(beyond, budget)), latest);
    next_turn_ = min(turn + seconds_of(cost, budget), latest);
    return turn;
  }

  /// Counts a packet that has gone. No cost, not a number included, makes others wait for more than
  /// kMaxWait.
  void spend(double cost, double budget, Nanos now) {
    follow(budget);
    const double owed = debt(budget, now) + cost, longest = kMaxWait * budget;
    owed_ = owed < longest ? owed : longest;
    at_ = now;
  }

 private:
  static constexpr double kMaxWait = 4;  // s: no flow's gap is longer

  /// A budget that changes leaves what is owed as many seconds of it.
  void follow(double budget) {
    if (budget == budget_ || budget <= 0) return;
    if (budget_ > 0) owed_ *= budget / budget_;
    budget_ = budget;
  }

  [[nodiscard]] double debt(double budget, Nanos now) const {
    return std::max(owed_ - budget * to_seconds(now - at_), 0.0);
  }
  static Nanos seconds_of(double dollars, double budget) {
    return from_seconds(dollars < kMaxWait * budget ? dollars / budget : kMaxWait);
  }

  double owed_ = 0;    // $ at `at_`
  double budget_ = 0;  // $/s, the last one; 0: none yet
  Nanos at_{0};
  Nanos next_turn_{0};  // behind the packets that wait
};

}  // namespace turnpike::sender
