// SPDX-License-Identifier: BSD-3-Clause
// What was the value at that time? Two rings that answer for the recent past.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/units/units.h"

namespace turnpike {

/// A value that changes at recorded times and holds in between, such as a link's price. A change by
/// less than a thousandth is none. One ring holds the last `Records` changes; the other holds the
/// last change of each bin of 2^bin_shift ns, for the last `Bins` bins (by default 2048 of 1.05 ms:
/// 2.1 s), and where the first ring has that bin's. record() is O(1) per bin that time has passed,
/// at most O(Bins); at() searches the changes of one bin.
template <size_t Bins = 2048, size_t Records = 2048>
class alignas(64) TimeSeries {
  static_assert(std::has_single_bit(Bins) && Bins >= 2 && std::has_single_bit(Records));

 public:
  static constexpr double kTolerance = 0x1p-10;  // of a value, what is no change

  explicit TimeSeries(unsigned bin_shift = 20) : shift_(bin_shift) {}

  /// From `t` on the value is `value`. A time before the last change's counts as the last one's.
  void record(Nanos t, double value) {
    if (count_ > 0 && std::fabs(value - last_.value) <= kTolerance * std::fabs(last_.value)) return;
    const int64_t time = std::max(t.count(), last_.time);
    const int64_t bin = time >> shift_;
    if (bin != head_) pass(bin);
    last_ = {time, value};
    records_[count_++ % Records] = {time, value};
    bins_[index(bin)] = {{time, value}, count_};
  }

  /// The value at time `t`: within kTolerance of what was recorded for it, if there have been fewer
  /// than `Records` changes since. Else the last one of the bins before t's may answer: it misses
  /// changes of t's own bin, and is never one from after t. Empty before the first record and
  /// beyond the horizon.
  [[nodiscard]] std::optional<double> at(Nanos t) const {
    Held none;
    return at(t, none);
  }

  /// The value of a span of time, for the next question: while nothing is recorded, at() for a time
  /// within it is this value.
  struct Held {
    int64_t from = 0, until = 0;  // until is excluded
    double value = 0;
  };
  /// The same for several times, which are often of the same span.
  [[nodiscard]] std::optional<double> at(Nanos t, Held& held) const {
    if (t.count() < held.from || t.count() >= held.until) {
      held = find(t);
      if (held.from >= held.until) return std::nullopt;
    }
    return held.value;
  }

  /// The span of time that one bin covers.
  [[nodiscard]] Nanos bin() const { return Nanos(int64_t{1} << shift_); }

 private:
  struct Change {
    int64_t time = kUnset;
    double value = 0;
  };
  struct Bin {
    Change last;       // of this bin or, without any, of those before
    uint64_t end = 0;  // changes up to here
  };
  // Later than any time that is asked for, so that an unset bin answers for none.
  static constexpr int64_t kUnset = kNever.count();
  static constexpr int64_t kNone = -(int64_t{1} << 62);  // earlier than any time

  static size_t index(int64_t bin) { return static_cast<size_t>(bin) % Bins; }

  // The span around `t` in which the value is known to be one; an empty one where none is known.
  [[nodiscard]] Held find(Nanos t) const {
    constexpr Held kUnknown;
    if (count_ == 0) return kUnknown;
    if (t.count() >= last_.time) return {last_.time, kUnset, last_.value};
    const int64_t bin = t.count() >> shift_;
    const int64_t oldest = head_ - static_cast<int64_t>(Bins) + 1;
    if (bin < oldest) return kUnknown;
    const Bin& own = bins_[index(bin)];
    if (own.last.time <= t.count()) return {own.last.time, (bin + 1) << shift_, own.last.value};
    if (bin == oldest) return kUnknown;
    const Bin& before = bins_[index(bin - 1)];
    const uint64_t kept = count_ - std::min<uint64_t>(count_, Records);
    const uint64_t begin = std::max(before.end, kept);
    const uint64_t next = first_after(t.count(), begin, own.end);
    const Change& change = next > begin ? records_[(next - 1) % Records] : before.last;
    if (change.time > t.count()) return kUnknown;
    return {change.time, next < own.end ? records_[next % Records].time : own.last.time,
            change.value};
  }

  // The first of the changes [begin, end) after `t`, or end.
  [[nodiscard]] uint64_t first_after(int64_t t, uint64_t begin, uint64_t end) const {
    while (begin < end) {
      const uint64_t middle = begin + (end - begin) / 2;
      if (records_[middle % Records].time <= t) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  // The bins in which nothing changed hold what changed last before them.
  void pass(int64_t bin) {
    if (count_ > 0) {
      const int64_t first = std::max(head_ + 1, bin - static_cast<int64_t>(Bins) + 1);
      for (int64_t b = first; b < bin; ++b) bins_[index(b)] = {last_, count_};
    }
    head_ = bin;
  }

  Change last_{kNone, 0};
  uint64_t count_ = 0;    // of changes
  int64_t head_ = kNone;  // the bin of the last change
  unsigned shift_;
  std::array<Bin, Bins> bins_;
  std::array<Change, Records> records_;
};

}  // namespace turnpike
