// SPDX-License-Identifier: BSD-3-Clause
// Sums over a moving window of varying length: a queue of buckets as fine as necessary.
//
// Example:
//
//     ExpiringSum<2> sums;
//     sums.advance(1_s, 100_ms);  // the time, and the length of the window before it
//     sums.add({1500, 1});
//     sums.advance(1_s + 40_ms, 100_ms);
//     const auto [bytes, packets] = sums.totals();  // of the last 100 ms
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

/// `Fields` sums over all contributions younger than the current window. O(1) amortised per call,
/// O(Buckets) at worst; no allocation.
///
/// Contributions within 4/Buckets of the window that make up less than 4/Buckets of every field's
/// sum share a bucket, and expire as if they had arrived evenly between its first and its last. A
/// larger contribution has a bucket of its own and expires exactly. So a sum is never wrong by more
/// than 4/Buckets of its value at the arrival of the expiring bucket. (If the buckets do not
/// suffice, as when every contribution exceeds all before, neighbours are merged, the smallest
/// first.)
///
/// Nothing is ever subtracted. Buckets before `flip_` hold the sum from their start up to `flip_`
/// instead of their own; newer buckets are added to it. When all buckets before `flip_` have
/// expired, the newer ones are converted likewise. So a sum has only the rounding of contributions
/// in the window, and sums of non-negative contributions are never negative.
template <size_t Fields, size_t Buckets = 1024>
class alignas(64) ExpiringSum {
  static_assert(Fields > 0 && std::has_single_bit(Buckets) && Buckets >= 8);

 public:
  using Values = std::array<double, Fields>;

  /// Advances to `now`, |now| < 2^61 ns (an earlier time counts as the last one), and sets the
  /// window to `window`, at least 1 ns. Expired contributions do not return: a window that grows
  /// faster than time passes begins where it began before.
  void advance(Nanos now, Nanos window) {
    now_ = std::max(now_, now.count());
    const int64_t length = std::clamp<int64_t>(window.count(), 1, int64_t{1} << 60);
    begin_ = std::max(begin_, now_ - length);
    span_ = length / kParts;
    if (open_.first < now_ - span_ || open_.first <= begin_) close();
    drop();
  }

  /// Adds at the time of the last advance.
  void add(const Values& v) {
    if (too_large(v)) close();
    if (!is_open()) open_.first = now_;
    open_.last = now_;
    accumulate(open_.sum, v);
  }

  /// The sums over contributions whose age was less than the window at the last advance.
  [[nodiscard]] Values totals() const {
    Values sum = closed_;
    accumulate(sum, open_.sum);
    return sum;
  }

  static constexpr size_t state_bytes() { return sizeof(ExpiringSum); }

 private:
  static constexpr int64_t kParts = Buckets / 4;
  static constexpr double kPart = 1 / static_cast<double>(kParts);

  struct Bucket {
    int64_t first, last;  // of contributions
    Values sum;           // of the bucket; before flip_: from its start up to flip_
  };

  [[nodiscard]] Bucket& at(uint64_t i) { return ring_[i % Buckets]; }
  [[nodiscard]] const Bucket& at(uint64_t i) const { return ring_[i % Buckets]; }

  static void accumulate(Values& sum, const Values& v) {
    for (size_t f = 0; f < Fields; ++f) sum[f] += v[f];
  }

  static bool within(const Values& v, const Values& all, double part) {
    int64_t beyond = 0;  // masks as wide as the compared numbers, for vectorisation
    for (size_t f = 0; f < Fields; ++f)
      beyond |= -static_cast<int64_t>(std::fabs(v[f]) > part * std::fabs(all[f]));
    return beyond == 0;
  }

  [[nodiscard]] bool is_open() const { return open_.first <= now_; }

  // Whether the open bucket with `v` would exceed its part of the sum.
  [[nodiscard]] bool too_large(const Values& v) const {
    Values in = open_.sum, all = closed_;
    accumulate(in, v);
    accumulate(all, in);
    return is_open() && !within(in, all, kPart);
  }

  void close() {
    if (!is_open()) return;
    if (head_ - tail_ == Buckets) merge();
    at(head_++) = open_;
    accumulate(recent_, open_.sum);
    set_older(older_);
    open_ = kNone;
  }

  // Removes contributions up to begin_.
  void drop() {
    while (tail_ < head_ && at(tail_).last <= begin_) ++tail_;
    if (tail_ >= flip_) settle();
    set_older(tail_ < head_ ? part_after(begin_) : Values{});
  }

  void set_older(const Values& v) {
    for (size_t f = 0; f < Fields; ++f) closed_[f] = (older_[f] = v[f]) + recent_[f];
  }

  // Sum from `time` up to flip_, over the buckets before flip_; `time` may lie within the first.
  [[nodiscard]] Values part_after(int64_t time) const {
    const Bucket& b = at(tail_);
    if (b.first > time) return b.sum;
    const double share =
        static_cast<double>(b.last - time) / static_cast<double>(b.last - b.first + 1);
    Values sum = tail_ + 1 < flip_ ? at(tail_ + 1).sum : Values{};
    for (size_t f = 0; f < Fields; ++f) sum[f] += share * (b.sum[f] - sum[f]);
    return sum;
  }

  // Converts the buckets' own sums since the last flip into sums up to the newest bucket.
  void settle() {
    Values sum{};
    for (uint64_t i = head_; i > std::max(flip_, tail_);) {
      accumulate(sum, at(--i).sum);
      at(i).sum = sum;
    }
    for (uint64_t i = std::max(flip_, tail_); i > tail_;) accumulate(at(--i).sum, sum);
    recent_ = Values{};
    flip_ = head_;
  }

  // Merges neighbours until half of the buckets are free: first pairs that together do not exceed a
  // part, then two parts, and so on.
  void merge() {
    settle();
    for (double parts = 1; head_ - tail_ > Buckets / 2; parts *= 2) {
      const Values all = at(tail_).sum;
      uint64_t to = tail_;
      for (uint64_t i = tail_; i < head_; ++to) {
        Bucket b = at(i++);
        if (i < head_ && may_merge(b, i, all, parts)) b.last = at(i++).last;
        at(to) = b;
      }
      head_ = flip_ = to;
    }
    set_older(part_after(begin_));
  }

  [[nodiscard]] bool may_merge(const Bucket& b, uint64_t next, const Values& all,
                               double parts) const {
    if (parts > kParts) return true;
    Values own = b.sum;
    if (next + 1 < head_)
      for (size_t f = 0; f < Fields; ++f) own[f] -= at(next + 1).sum[f];
    return static_cast<double>(at(next).last - b.first) <= parts * static_cast<double>(span_) &&
           within(own, all, parts * kPart);
  }

  // open_ while no bucket is open.
  static constexpr Bucket kNone{int64_t{1} << 62, int64_t{1} << 62, {}};

  // Fields that every packet touches come first.
  Bucket open_ = kNone;  // of the newest contributions
  Values closed_{};      // older_ and recent_
  Values older_{};       // of the buckets before flip_, the part in the window
  Values recent_{};      // the buckets from flip_ on
  int64_t now_ = -(int64_t{1} << 61);
  int64_t begin_ = now_ * 2;  // the window begins after it
  int64_t span_ = 0;          // longest duration of a bucket, ns
  uint64_t tail_ = 0, flip_ = 0, head_ = 0;
  // Buckets are written before they are read: memory of those that were never used is not touched.
  alignas(64) std::array<Bucket, Buckets> ring_;
};

}  // namespace turnpike
