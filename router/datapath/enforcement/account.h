// SPDX-License-Identifier: BSD-3-Clause
// A customer's state on one lcore: debts, and the figures that several lcores share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/units/units.h"
#include "router/datapath/enforcement/misbehaviour.h"

namespace turnpike::router {

/// The token buckets of a customer: of payments, of commitments, of SYNs.
enum class Bucket : uint8_t { kPaid, kCommitted, kOpenings };
/// All lcores withdraw from the first ones, each from openings of its own.
inline constexpr size_t kSharedBuckets = 2;

/// A number for each Bucket, in its order, and an unused one. GCC and clang calculate with all of
/// them at once.
using PerBucket [[gnu::vector_size(4 * sizeof(float))]] = float;

/// One lcore's state of one customer: the only cache line of it that a data packet touches if no
/// other lcore charges customers. Written by that lcore alone.
///
/// A token bucket is the debt that its withdrawals leave, in seconds of the customer's budget: it
/// falls by one second per second, not below zero. A withdrawal is refused if the debt exceeds a
/// limit.
struct alignas(64) CustomerAccount {
  static constexpr unsigned kTickShift = 14;  // a tick is 2^14 ns, 16 us
  static constexpr float kTick = static_cast<float>(1 << kTickShift) * 1e-9F;

  PerBucket debt{};      // s
  uint32_t at = 0;       // tick of the last pass(); a customer idle for 19 h keeps its debt
  float per_dollar = 0;  // s of the budget, tolerance included, that a dollar is
  float rtt = 0;         // s, the shortest of the customer's round trips; 0: unknown
  Misbehaviour misbehaviour;

  static uint32_t tick_of(Nanos now) { return static_cast<uint32_t>(now.count() >> kTickShift); }

  /// Lets time pass until `tick`; returns it in seconds.
  float pass(uint32_t tick) {
    const auto seconds = static_cast<float>(tick - at) * kTick;
    at = tick;
    const PerBucket left = debt - seconds;
    debt = left > 0 ? left : PerBucket{};
    return seconds;
  }
  [[nodiscard]] float owed(Bucket which) const { return debt[static_cast<size_t>(which)]; }

  /// Takes the debts and verdicts of an account of the same customer and lcore, whose budget may
  /// differ. No lcore may use either.
  void go_on_from(const CustomerAccount& before) {
    const float own = per_dollar;
    *this = before;
    per_dollar = own;
  }
};
static_assert(sizeof(CustomerAccount) == 64);

/// The rest of that state, which other lcores read: the withdrawals that they have to add, and free
/// ACKs. Written by one lcore; the others read the atomic fields.
struct alignas(64) SharedAccount {
  float since[kSharedBuckets] =
      {};  // s: change of the debt since the last take(), not bounded below
  float carry[kSharedBuckets] = {};    // units of `published` not yet published
  uint32_t seen[kSharedBuckets] = {};  // other lcores' `published` at the last take()
  std::atomic<uint32_t> published[kSharedBuckets] = {};  // withdrawals, in units; wraps around
  std::atomic<uint32_t> ack_credit{0}, acks_used{0};     // packets; wrap around

  void pass(float seconds) {
    for (float& s : since) s -= seconds;
  }
  /// Returns the debt after the other lcores' withdrawals since the last call, s. `since` assumes
  /// that all of them came at the beginning of that time, `debt` that this lcore's were the only
  /// ones: both are lower bounds.
  float take(size_t which, float debt, float seconds) {
    return since[which] = std::max(debt, since[which] + seconds);
  }

  /// As CustomerAccount::go_on_from().
  void go_on_from(const SharedAccount& before) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    for (size_t b = 0; b < kSharedBuckets; ++b) {
      since[b] = before.since[b];
      carry[b] = before.carry[b];
      seen[b] = before.seen[b];
      published[b].store(before.published[b].load(kRelaxed), kRelaxed);
    }
    ack_credit.store(before.ack_credit.load(kRelaxed), kRelaxed);
    acks_used.store(before.acks_used.load(kRelaxed), kRelaxed);
  }
};
static_assert(sizeof(SharedAccount) == 64);

}  // namespace turnpike::router
