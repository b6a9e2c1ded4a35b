// SPDX-License-Identifier: BSD-3-Clause
// The highest value around a past time. Rings of bins, finer for more recent times.
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

/// A value that changes at recorded times and holds in between, such as a link's price. Ignores
/// changes of less than a thousandth; stores binary32. Each ring holds the highest value in each of
/// its last `Bins` bins. Bins of the first ring are 2^Shift ns long, those of each next
/// one 16 times as long: by default 4.1 us for the last 8.4 ms, 66 us for 134 ms, 1.05 ms for 2.1
/// s. at() is O(1), record() O(1) per bin that has passed, at most O(Bins).
///
/// Keeps the highest value because a price may change by many powers of ten from one packet to the
/// next, while callers know their past time only to about a bin: serialisation and queueing delays
/// on the path to the link differ from packet to packet.
template <size_t Bins = 2048, unsigned Shift = 12, unsigned Rings = 3>
class alignas(64) TimeSeries {
  static_assert(std::has_single_bit(Bins) && Bins >= 4 && Shift + 4 * (Rings - 1) < 32);

 public:
  static constexpr unsigned kRings = Rings;
  static constexpr double kTolerance = 0x1p-10;  // relative change that is ignored

  /// The value is `value` from `t` on. A time before the last change counts as that time.
  void record(Nanos t, double value) {
    if (std::fabs(value - value_) <= kTolerance * std::fabs(value_)) return;
    const bool first = time_ == kNone;
    const int64_t time = std::max(t.count(), time_);
    const auto to = static_cast<float>(value);
    for (unsigned r = 0; r < kRings; ++r) {
      const int64_t bin = time >> shift(r), head = time_ >> shift(r);
      float& highest = rings_[r][index(bin)];
      if (first) {
        highest = to;
      } else {
        pass(rings_[r], head, bin);
        highest = std::max(to, bin == head ? highest : static_cast<float>(value_));
      }
    }
    if (first) first_ = time;
    time_ = time;
    value_ = value;
  }

  /// The value now.
  [[nodiscard]] double now() const { return value_; }

  /// Writes the highest values around the times `now` - ago[i] ns into values[i]: over the bin of
  /// that time and its two neighbours, in the finest ring that reaches back so far. NaN before the
  /// first record and beyond the horizon. `now` must not be before the last record.
  void at(Nanos now, std::span<const uint32_t> ago, double* values) const {
    Look look;
    int64_t nearer = 0, farther = 0;  // range in ns of the current ring; empty at first
    for (size_t i = 0; i < ago.size(); ++i) {
      if (ago[i] < nearer || ago[i] >= farther) [[unlikely]] {
        const unsigned ring = ring_of(ago[i]);
        if (ring == kRings) {
          values[i] = kUnknown;
          continue;
        }
        look = look_at(ring);
        nearer = ring == 0 ? 0 : reach(ring - 1);
        farther = reach(ring);
      }
      values[i] = highest(look, now.count() - ago[i]);
    }
  }
  /// The same for one time.
  [[nodiscard]] double at(Nanos now, uint32_t ago) const {
    const unsigned ring = ring_of(ago);
    return ring == kRings ? kUnknown : highest(look_at(ring), now.count() - ago);
  }

  /// The time of the first record; kNever before it.
  [[nodiscard]] Nanos first() const { return Nanos(first_); }

  /// Duration of a bin of ring `r`; ring 0 is the finest.
  static constexpr Nanos bin(unsigned r = 0) { return Nanos(int64_t{1} << shift(r)); }
  /// How far ring `r` reaches back, ns.
  static constexpr int64_t reach(unsigned r) {
    return static_cast<int64_t>(Bins - 2) * (int64_t{1} << shift(r));
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr int64_t kNone = -(int64_t{1} << 62);  // earlier than any time

  using Ring = std::array<float, Bins>;  // the highest value in each bin

  static constexpr unsigned shift(unsigned r) { return Shift + 4 * r; }
  static constexpr size_t index(int64_t bin) { return static_cast<size_t>(bin) % Bins; }

  // A ring and the mapping from time to its bins.
  struct Look {
    const Ring* bins = nullptr;
    unsigned bits = 0;
    int64_t head = 0;  // bin of the last change
  };
  [[nodiscard]] Look look_at(unsigned r) const { return {&rings_[r], shift(r), time_ >> shift(r)}; }
  // The finest ring that reaches back `ago` ns; kRings: none.
  static unsigned ring_of(uint32_t ago) {
    unsigned ring = 0;
    while (ring < kRings && ago >= reach(ring)) ++ring;
    return ring;
  }
  [[nodiscard]] double highest(const Look& look, int64_t time) const {
    const int64_t bin = time >> look.bits;
    if (bin - 1 > look.head) return value_;
    const Ring& bins = *look.bins;
    const float here = bins[index(std::min(bin, look.head))], before = bins[index(bin - 1)],
                after = bins[index(std::min(bin + 1, look.head))];
    const float most = before > here ? before : here;  // NaN compares false
    return after > most ? after : most;
  }

  // Fills bins without changes with the value of the last change before them.
  void pass(Ring& ring, int64_t head, int64_t bin) const {
    const int64_t first = std::max(head + 1, bin - static_cast<int64_t>(Bins) + 1);
    for (int64_t b = first; b < bin; ++b) ring[index(b)] = static_cast<float>(value_);
  }

  static constexpr std::array<Ring, kRings> unknown() {
    std::array<Ring, kRings> rings;
    for (Ring& ring : rings) ring.fill(static_cast<float>(kUnknown));
    return rings;
  }

  int64_t time_ = kNone;  // of the last change
  int64_t first_ = kNever.count();
  double value_ = kUnknown;
  std::array<Ring, kRings> rings_ = unknown();
};

}  // namespace turnpike
