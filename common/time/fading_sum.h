// SPDX-License-Identifier: BSD-3-Clause
// A sum of contributions that each count in full for their own hold time and then fade linearly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/units/units.h"

namespace turnpike {

/// The sum is piecewise linear in time, so a wheel of slope changes is the whole state: O(1) per
/// contribution and per tick that passes, no allocation. A tick is 2^k ns, between 1/256 and 1/128
/// of the fading time; a contribution begins to fade at most a tick late.
///
/// The value is an integral of differences, so once per turn it is computed anew from the slope
/// changes ahead; without any it is exactly zero.
template <size_t Slots = 1024>
class alignas(64) FadingSum {
  static_assert(std::has_single_bit(Slots) && Slots >= 8);

 public:
  /// Advances to `now` (an earlier time counts as the last one). Contributions added from now on
  /// fade over `fade`, which also sets the resolution.
  void advance(Nanos now, Nanos fade) {
    fade_ = std::max(fade.count(), int64_t{Slots});
    move(std::max(now_, now.count()));
    const int64_t ticks = fade_ >> shift_;
    if (ticks > kMax || ticks < kMin) [[unlikely]]
      retick(std::bit_width(static_cast<uint64_t>(fade_ / kMax)));
  }

  /// Adds at the time of the last advance; counts in full for `hold`. Hold and fading time end
  /// within the wheel's reach, at least twice the fading time; a longer hold is clipped.
  void add(double value, Nanos hold) {
    const int64_t fading = std::max<int64_t>(fade_ >> shift_, 1);
    const int64_t begin =
        std::clamp(((now_ + hold.count()) >> shift_) + 1, tick_ + 1, tick_ + kSlots - 1 - fading);
    const double slope = -value / static_cast<double>(fading << shift_);
    slot(begin) += slope;
    slot(begin + fading) -= slope;
    last_ = std::max(last_, begin + fading);
    value_ += value;
  }

  [[nodiscard]] double total() const { return value_; }

 private:
  static constexpr auto kSlots = static_cast<int64_t>(Slots);
  static constexpr int64_t kMin = kSlots / 8, kMax = kSlots / 4;  // ticks of the fading time

  [[nodiscard]] double& slot(int64_t tick) { return ring_[static_cast<size_t>(tick) % Slots]; }

  void move(int64_t to) {
    const int64_t tick = to >> shift_;
    if (tick > last_) {  // all has faded
      if (tick_ < last_ || value_ != 0) ring_.fill(0);
      value_ = slope_ = 0;
      tick_ = tick;
    }
    for (; tick_ < tick;) {
      pass(++tick_ << shift_);
      slope_ += std::exchange(slot(tick_), 0);
      if (tick_ % kSlots == 0) resum();
    }
    pass(to);
  }

  void pass(int64_t time) {
    value_ += slope_ * static_cast<double>(time - now_);
    now_ = time;
  }

  // Integrates backwards from the last slope change, where the sum is zero.
  void resum() {
    slope_ = value_ = 0;
    for (int64_t t = last_; t > tick_; --t) {
      slope_ -= slot(t);
      const int64_t begin = std::max((t - 1) << shift_, now_);
      value_ -= slope_ * static_cast<double>((t << shift_) - begin);
    }
  }

  // Moves slope changes to the next tick of the new length.
  void retick(int shift) {
    std::array<double, Slots> ring{};
    const int64_t tick = now_ >> shift;
    int64_t last = tick;
    for (int64_t t = tick_ + 1; t <= last_; ++t) {
      if (slot(t) == 0) continue;
      const int64_t moved = ((t << shift_) + (int64_t{1} << shift) - 1) >> shift;
      last = std::clamp(moved, tick + 1, tick + kSlots - 1);
      ring[static_cast<size_t>(last) % Slots] += slot(t);
    }
    ring_ = ring;
    tick_ = tick;
    last_ = last;
    shift_ = shift;
    resum();
  }

  double value_ = 0;  // at now_
  double slope_ = 0;  // per ns, from now_ to the next tick
  int64_t now_ = 0;
  int64_t fade_ = 1;                              // ns
  int64_t tick_ = 0;                              // of now_
  int64_t last_ = 0;                              // of the last slope change
  int shift_ = 0;                                 // a tick is 2^shift_ ns
  alignas(64) std::array<double, Slots> ring_{};  // change of the slope at the tick's start
};

}  // namespace turnpike
