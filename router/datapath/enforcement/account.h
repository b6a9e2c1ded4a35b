// SPDX-License-Identifier: BSD-3-Clause
// A customer's debts on one lcore: token buckets that several lcores share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike::router {

/// A token bucket as the debt that its withdrawals leave, in seconds of the customer's budget: it
/// falls by one second per second, not below zero. A withdrawal is refused if the debt would exceed
/// a limit.
struct Debt {
  float total = 0;  // s
  float since = 0;  // s: change since the last add_others(), not bounded below

  void pass(float seconds) {
    total = std::max(total - seconds, 0.0F);
    since -= seconds;
  }
  void add(float seconds) {
    total += seconds;
    since += seconds;
  }
  /// Adds the other lcores' withdrawals since the last call. `since` assumes that all withdrawals
  /// of that time came at its beginning, `total` that this lcore's were the only ones: both are
  /// lower bounds of the debt.
  void add_others(float seconds) {
    total = std::max(total, since + seconds);
    since = total;
  }
};

/// One lcore's state of one customer: one cache line, written by that lcore alone. Other lcores
/// read the atomic fields.
struct alignas(64) CustomerAccount {
  enum Shared : size_t { kPaid, kCommitted, kShared };
  static constexpr unsigned kTickShift = 14;  // a tick is 2^14 ns, 16 us
  static constexpr float kTick = static_cast<float>(1 << kTickShift) * 1e-9F;

  uint32_t at = 0;              // tick of the last pass(); a customer idle for 19 h keeps its debt
  float per_dollar = 0;         // s of the budget, tolerance included, that a dollar is
  float rtt = 0;                // s, the shortest of the customer's round trips; 0: unknown
  float opened = 0;             // s, debt of SYNs; not shared
  Debt debt[kShared];           // of payments, and of commitments
  float carry[kShared] = {};    // units of `published` not yet published
  uint32_t seen[kShared] = {};  // other lcores' `published` at the last add_others()
  std::atomic<uint32_t> published[kShared] = {};      // withdrawals, in units; wraps around
  std::atomic<uint32_t> ack_credit{0}, acks_used{0};  // packets; wrap around

  static uint32_t tick_of(Nanos now) { return static_cast<uint32_t>(now.count() >> kTickShift); }

  void pass(uint32_t tick) {
    const auto seconds = static_cast<float>(tick - at) * kTick;
    at = tick;
    opened = std::max(opened - seconds, 0.0F);
    for (Debt& d : debt) d.pass(seconds);
  }
};
static_assert(sizeof(CustomerAccount) == 64);

}  // namespace turnpike::router
