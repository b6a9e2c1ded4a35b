// SPDX-License-Identifier: BSD-3-Clause
// What was the value at that time? Rings of bins, the finer the more recent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "common/units/units.h"

namespace turnpike {

/// A value that changes at recorded times and holds in between, such as a link's price. A change by
/// less than a thousandth is none, and a value is kept as binary32. Each of three rings holds the
/// last change of each of its last `Bins` bins; the bins of the first are 2^Shift ns long, those of
/// the next 16 times as long, and so on: by default of 4.1 us for the last 8.4 ms, of 66 us for
/// 134 ms, of 1.05 ms for 2.1 s. at() is O(1), record() O(1) per bin that time has passed, at most
/// O(Bins).
template <size_t Bins = 2048, unsigned Shift = 12>
class alignas(64) TimeSeries {
  static_assert(std::has_single_bit(Bins) && Bins >= 2 && Shift + 8 < 32);

 public:
  static constexpr unsigned kRings = 3;
  static constexpr double kTolerance = 0x1p-10;  // of a value, what is no change

  /// From `t` on the value is `value`. A time before the last change's counts as the last one's.
  void record(Nanos t, double value) {
    if (std::fabs(value - value_) <= kTolerance * std::fabs(value_)) return;
    const bool first = time_ == kNone;
    const int64_t time = std::max(t.count(), time_);
    for (unsigned r = 0; r < kRings; ++r) {
      const int64_t bin = time >> shift(r);
      if (!first) pass(rings_[r], time_ >> shift(r), bin);
      rings_[r][index(bin)] = {offset(time, shift(r)), static_cast<float>(value)};
      reach_[r] = (bin - static_cast<int64_t>(Bins) + 2) * (int64_t{1} << shift(r));
    }
    if (first) first_ = time;
    time_ = time;
    value_ = value;
  }

  /// The value at time `t`, or what it was when t's bin began, where it changed after `t` in the
  /// same bin: of the finest ring that reaches back to the bin before t's. NaN before the first
  /// record and beyond the horizon.
  [[nodiscard]] double at(Nanos t) const {
    if (t.count() >= time_) return value_;
    const unsigned ring = ring_of(t.count());
    return ring == kRings ? kUnknown : look_up(rings_[ring], shift(ring), t.count());
  }

  /// The same for the times `now` - ago[i] ns, into values[i]. Most are of the ring of the one
  /// before.
  void at(Nanos now, std::span<const uint32_t> ago, double* values) const {
    const Ring* bins = nullptr;
    unsigned bits = 0;  // of time, below those that tell that ring's bins apart
    int64_t from = 0;   // what it answers for, and how long; at first nothing
    uint64_t span = 0;
    for (size_t i = 0; i < ago.size(); ++i) {
      const int64_t t = now.count() - ago[i];
      if (static_cast<uint64_t>(t - from) >= span) [[unlikely]] {
        const unsigned ring = ring_of(t);
        if (t >= time_ || ring == kRings) {
          values[i] = t >= time_ ? value_ : kUnknown;
          continue;
        }
        bins = &rings_[ring];
        bits = shift(ring);
        from = reach_[ring];
        span = static_cast<uint64_t>((ring == 0 ? time_ : reach_[ring - 1]) - from);
      }
      values[i] = look_up(*bins, bits, t);
    }
  }

  /// The time of the first record; kNever before it.
  [[nodiscard]] Nanos first() const { return Nanos(first_); }

  /// The span of time that a bin of ring `r` covers, from the finest one on.
  static constexpr Nanos bin(unsigned r = 0) { return Nanos(int64_t{1} << shift(r)); }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr int64_t kNone = -(int64_t{1} << 62);  // earlier than any time

  struct Bin {
    uint32_t since = ~uint32_t{0};  // ns from the bin's start to its last change; 0: before it
    float value = static_cast<float>(kUnknown);  // from then on
  };
  using Ring = std::array<Bin, Bins>;

  static constexpr unsigned shift(unsigned r) { return Shift + 4 * r; }
  static constexpr size_t index(int64_t bin) { return static_cast<size_t>(bin) % Bins; }
  static constexpr uint32_t offset(int64_t time, unsigned bits) {
    return static_cast<uint32_t>(time) & ((uint32_t{1} << bits) - 1);
  }

  // The finest one that reaches back to the bin before that time's; kRings: none.
  [[nodiscard]] unsigned ring_of(int64_t time) const {
    unsigned ring = 0;
    while (ring < kRings && time < reach_[ring]) ++ring;
    return ring;
  }
  static double look_up(const Ring& bins, unsigned bits, int64_t time) {
    const auto bin = static_cast<uint64_t>(time >> bits);
    // Without a branch, which would go either way.
    const uint64_t later = bins[bin % Bins].since > offset(time, bits) ? 1 : 0;
    return bins[(bin - later) % Bins].value;
  }

  // The bins in which nothing changed hold what changed last before them.
  void pass(Ring& ring, int64_t head, int64_t bin) const {
    const int64_t first = std::max(head + 1, bin - static_cast<int64_t>(Bins) + 1);
    for (int64_t b = first; b < bin; ++b) ring[index(b)] = {0, static_cast<float>(value_)};
  }

  int64_t time_ = kNone;  // of the last change
  int64_t first_ = kNever.count();
  double value_ = kUnknown;
  std::array<int64_t, kRings> reach_{};  // the start of each ring's second oldest bin
  std::array<Ring, kRings> rings_;
};

}  // namespace turnpike
