// SPDX-License-Identifier: BSD-3-Clause
// The highest value around a past time. Rings of bins, the finer the more recent.
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
/// highest value in each of its last `Bins` bins; the bins of the first are 2^Shift ns long, those
/// of the next 16 times as long, and so on: by default of 4.1 us for the last 8.4 ms, of 66 us for
/// 134 ms, of 1.05 ms for 2.1 s. at() is O(1), record() O(1) per bin that time has passed, at most
/// O(Bins).
///
/// Keeps the highest value because a price may change by many powers of ten from one packet to the
/// next, while a caller knows the time that it asks for to a bin or so: serialisation and queueing
/// delays on the way to the link differ from packet to packet.
template <size_t Bins = 2048, unsigned Shift = 12>
class alignas(64) TimeSeries {
  static_assert(std::has_single_bit(Bins) && Bins >= 4 && Shift + 8 < 32);

 public:
  static constexpr unsigned kRings = 3;
  static constexpr double kTolerance = 0x1p-10;  // of a value, what is no change

  /// From `t` on the value is `value`. A time before the last change's counts as the last one's.
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

  /// The highest values around the times `now` - ago[i] ns, into values[i]: in the bin of that
  /// time, the one before and the one after, of the finest ring that goes back so far. NaN before
  /// the first record and beyond the horizon. `now` is not before the last record.
  void at(Nanos now, std::span<const uint32_t> ago, double* values) const {
    Look look;
    int64_t nearer = 0, farther = 0;  // ns ago, between which that ring answers; at first none
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
  [[nodiscard]] double at(Nanos now, uint32_t ago) const {
    const unsigned ring = ring_of(ago);
    return ring == kRings ? kUnknown : highest(look_at(ring), now.count() - ago);
  }

  /// The time of the first record; kNever before it.
  [[nodiscard]] Nanos first() const { return Nanos(first_); }

  /// The span of time that a bin of ring `r` covers, from the finest one on.
  static constexpr Nanos bin(unsigned r = 0) { return Nanos(int64_t{1} << shift(r)); }
  /// What ring `r` goes back to, ns.
  static constexpr int64_t reach(unsigned r) {
    return static_cast<int64_t>(Bins - 2) * (int64_t{1} << shift(r));
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr int64_t kNone = -(int64_t{1} << 62);  // earlier than any time

  using Ring = std::array<float, Bins>;  // the highest value in each bin

  static constexpr unsigned shift(unsigned r) { return Shift + 4 * r; }
  static constexpr size_t index(int64_t bin) { return static_cast<size_t>(bin) % Bins; }

  // A ring, and what its bins are told apart by.
  struct Look {
    const Ring* bins = nullptr;
    unsigned bits = 0;
    int64_t head = 0;  // bin of the last change
  };
  [[nodiscard]] Look look_at(unsigned r) const { return {&rings_[r], shift(r), time_ >> shift(r)}; }
  // The finest one that goes back so far; kRings: none.
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
    const float most = before > here ? before : here;  // of what is known
    return after > most ? after : most;
  }

  // The bins in which nothing changed hold what the last change before them left.
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
