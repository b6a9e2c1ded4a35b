// SPDX-License-Identifier: BSD-3-Clause
// Two clocks: the processor's time stamp counter, and one that the program advances.
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

/// Nanoseconds since the counter was `origin`, by multiplication and shift: exact to 3 ns for a
/// year. Two processes on one machine with the same frequency and origin agree (all cores share the
/// counter if the CPU calls it invariant). Origin 0 is about the machine's start.
class TscClock {
 public:
  /// `hz`: counter ticks per second as DPDK measures it, at least 4 MHz.
  explicit TscClock(uint64_t hz, uint64_t origin = 0)
      : multiplier_(
            static_cast<uint64_t>(((static_cast<Wide>(1'000'000'000) << kShift) + hz / 2) / hz)),
        origin_(origin) {}

  [[nodiscard]] Nanos now() const { return at(ticks()); }

  /// The time at counter value `ticks`.
  [[nodiscard]] Nanos at(uint64_t ticks) const {
    return Nanos(static_cast<int64_t>(static_cast<Wide>(ticks - origin_) * multiplier_ >> kShift));
  }

  /// The counter's value: the origin of a clock that starts near 0.
  static uint64_t ticks() { return __builtin_ia32_rdtsc(); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr unsigned kShift = 56;  // the multiplier fits 64 bits from 4 MHz on
  uint64_t multiplier_;
  uint64_t origin_;
};

/// Stands still until it is set; never goes back.
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
