// SPDX-License-Identifier: BSD-3-Clause
// How long the machine kept a polling thread from running.
#pragma once

#include <string>
#include <utility>

#include "common/metrics/counter.h"
#include "common/units/units.h"

namespace turnpike {

/// Asked before each poll, by the thread alone; anybody reads the totals. A router leaves out what
/// it missed: it saw no packets then, and its laws must not take that for silence, or an FCP link
/// would find its window empty and all but give its capacity away.
class alignas(64) Stalls {
 public:
  /// Longer than any turn of a scheduler among a few processes. Packets that come in such turns are
  /// waiting when the thread runs again: to leave that time out and count them would make every
  /// rate look higher than it is.
  static constexpr Nanos kLeast = 8_ms;

  /// Time since the last call where that was a stall; zero as a rule.
  Nanos missed(Nanos now) {
    const Nanos gap = now - std::exchange(last_, now);
    if (gap < kLeast) [[likely]]
      return Nanos(0);
    count_.add();
    nanos_.add(static_cast<uint64_t>(gap.count()));
    return gap;
  }

  [[nodiscard]] uint64_t count() const { return count_.read(); }
  [[nodiscard]] Nanos total() const { return Nanos(static_cast<int64_t>(nanos_.read())); }

  /// A line for people; empty when there was none.
  [[nodiscard]] std::string text(const std::string& who) const {
    if (count() == 0) return {};
    return who + ": the machine kept it waiting " + std::to_string(count()) + " times, " +
           std::to_string(total().count() / 1'000'000) + " ms in all\n";
  }

 private:
  Nanos last_ = kNever;  // the first call is no stall
  metrics::Counter count_, nanos_;
};

}  // namespace turnpike
