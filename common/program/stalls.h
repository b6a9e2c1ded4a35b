// SPDX-License-Identifier: BSD-3-Clause
// Detects times in which the machine did not run a polling thread.
#pragma once

#include <atomic>
#include <string>

#include "common/metrics/counter.h"
#include "common/units/units.h"

namespace turnpike {

/// The polling thread alone calls missed(); any thread reads the totals.
class alignas(64) Stalls {
 public:
  /// Long against a sleep and against a poll with a full burst from every port.
  static constexpr Nanos kMin = 1_ms;

  /// Call before each poll. Returns the time since the last call if it was a stall, otherwise 0.
  Nanos missed(Nanos now) {
    const Nanos gap = now - Nanos(last_.load(std::memory_order_relaxed));
    last_.store(now.count(), std::memory_order_relaxed);
    if (gap < kMin) [[likely]]
      return Nanos(0);
    count_.add();
    nanos_.add(static_cast<uint64_t>(gap.count()));
    return gap;
  }

  /// Time of the last poll, ns; any thread may ask.
  [[nodiscard]] int64_t last_poll() const { return last_.load(std::memory_order_relaxed); }
  /// Call instead of missed() when the thread was held on purpose: returns the time since the last
  /// call if it was as long as a stall, and does not count it.
  Nanos pardon(Nanos now) {
    const Nanos gap = now - Nanos(last_.load(std::memory_order_relaxed));
    last_.store(now.count(), std::memory_order_relaxed);
    return gap < kMin ? Nanos(0) : gap;
  }

  [[nodiscard]] uint64_t count() const { return count_.read(); }
  [[nodiscard]] Nanos total() const { return Nanos(static_cast<int64_t>(nanos_.read())); }

  /// A line for people; empty without stalls.
  [[nodiscard]] std::string text(const std::string& who) const {
    if (count() == 0) return {};
    return who + ": descheduled " + std::to_string(count()) + " times, " +
           std::to_string(total().count() / 1'000'000) + " ms in all\n";
  }

 private:
  std::atomic<int64_t> last_{kNever.count()};  // the first call never reports a stall
  metrics::Counter count_, nanos_;
};

}  // namespace turnpike
