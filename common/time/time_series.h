// SPDX-License-Identifier: BSD-3-Clause
// What was the value at that time? A ring of bins that answers for the recent past.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/units/units.h"

namespace turnpike {

/// A value that changes at recorded times and holds in between, such as a link's price. Each bin
/// of 2^bin_shift ns keeps its last record; the last `Bins` bins are remembered (by default 2048
/// of 1.05 ms: 2.1 s). record() is O(1) per bin that time has passed, at most O(Bins).
template <size_t Bins = 2048>
class alignas(64) TimeSeries {
  static_assert(std::has_single_bit(Bins) && Bins >= 2);

 public:
  explicit TimeSeries(unsigned bin_shift = 20) : shift_(bin_shift) {}

  /// From `t` on the value is `value`. A time before the last record's counts as the last one's.
  void record(Nanos t, double value) {
    const int64_t time = std::max(t.count(), last_.time);
    const int64_t bin = time >> shift_;
    if (bin != head_) pass(bin);
    last_ = {time, value};
    slot(bin) = {time, value};  // not a copy of last_: its two halves are still on their way
  }

  /// The value at time `t`: exact unless a record after t shares t's bin. Then it is the last one
  /// of the bins before, so it misses records of t's own bin at most, and is never one from after
  /// t. Empty before the first record and beyond the horizon.
  [[nodiscard]] std::optional<double> at(Nanos t) const {
    if (t.count() >= last_.time) return recorded() ? std::optional(last_.value) : std::nullopt;
    const int64_t bin = t.count() >> shift_;
    const int64_t oldest = head_ - static_cast<int64_t>(Bins) + 1;
    if (!recorded() || bin < oldest) return std::nullopt;
    if (slot(bin).time <= t.count()) return slot(bin).value;
    if (bin == oldest || slot(bin - 1).time > t.count()) return std::nullopt;
    return slot(bin - 1).value;
  }

  /// The span of time that one bin covers.
  [[nodiscard]] Nanos bin() const { return Nanos(int64_t{1} << shift_); }

 private:
  struct Record {
    int64_t time = kUnset;
    double value = 0;
  };
  // Later than any time that is asked for, so that an unset bin answers for none.
  static constexpr int64_t kUnset = kNever.count();
  static constexpr int64_t kNone = -(int64_t{1} << 62);  // earlier than any time

  [[nodiscard]] bool recorded() const { return head_ != kNone; }
  [[nodiscard]] Record& slot(int64_t bin) { return ring_[static_cast<size_t>(bin) % Bins]; }
  [[nodiscard]] const Record& slot(int64_t bin) const {
    return ring_[static_cast<size_t>(bin) % Bins];
  }

  // The bins that nothing was recorded in hold what was last recorded before them.
  void pass(int64_t bin) {
    if (recorded()) {
      const int64_t first = std::max(head_ + 1, bin - static_cast<int64_t>(Bins) + 1);
      for (int64_t b = first; b < bin; ++b) slot(b) = last_;
    }
    head_ = bin;
  }

  std::array<Record, Bins> ring_;
  Record last_{kNone, 0};
  int64_t head_ = kNone;  // the bin of the last record
  unsigned shift_;
};

}  // namespace turnpike
