// SPDX-License-Identifier: BSD-3-Clause
// The two clocks: the processor's time stamp counter, and one that goes where it is told.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

template <class C>
concept Clock = requires(C& clock) {
  { clock.now() } -> std::same_as<Nanos>;
};

/// Nanoseconds since the counter stood at `origin`, by multiplying and shifting: exact to 3 ns for
/// a year. Two processes on one machine that are given the same frequency and origin agree (the
/// counter is shared by all cores where the CPU calls it invariant); origin 0 is about when the
/// machine started.
class TscClock {
 public:
  /// `hz`: ticks per second, at least 4 MHz (DPDK measures it).
  explicit TscClock(uint64_t hz, uint64_t origin = 0)
      : multiplier_(
            static_cast<uint64_t>(((static_cast<Wide>(1'000'000'000) << kShift) + hz / 2) / hz)),
        origin_(origin) {}

  [[nodiscard]] Nanos now() const { return at(ticks()); }

  /// The time at which the counter stands at `ticks`.
  [[nodiscard]] Nanos at(uint64_t ticks) const {
    return Nanos(static_cast<int64_t>(static_cast<Wide>(ticks - origin_) * multiplier_ >> kShift));
  }

  /// The bare counter; take it as the origin for a clock that starts near 0.
  static uint64_t ticks() { return __builtin_ia32_rdtsc(); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr unsigned kShift = 56;  // the multiplier fits 64 bits from 4 MHz on
  uint64_t multiplier_;
  uint64_t origin_;
};

/// Stands still until it is moved; never goes back.
class VirtualClock {
 public:
  explicit VirtualClock(Nanos start = Nanos(0)) : now_(start) {}

  [[nodiscard]] Nanos now() const { return now_; }
  void move_to(Nanos t) { now_ = std::max(now_, t); }

 private:
  Nanos now_;
};

static_assert(Clock<TscClock> && Clock<VirtualClock>);

}  // namespace turnpike
