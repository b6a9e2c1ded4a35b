// SPDX-License-Identifier: BSD-3-Clause
// Sums over a moving window whose length moves too: a wheel whose slots are sums.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

/// `Fields` sums over all contributions younger than the current window. O(1) amortised per call
/// while the window moves by less than a slot per call, O(Slots) at worst; no allocation.
///
/// Time is cut into ticks of 2^k ns that follow the window, so that a window spans 3/8 to 7/8 of
/// the slots. A contribution is known to its tick, and the tick that the window's end cuts counts
/// in proportion. So it leaves over the length of one tick, at most 8/3 window / Slots long
/// (d/192 for 512 slots), and on average at most half of that too early or too late (d/384).
/// Slots stay for at least 8/7 window: when the window grows, what they hold counts again. When it
/// shrinks, contributions made under a longer tick keep that tick's error.
///
/// Nothing is ever subtracted. Old slots hold the sum from their start up to `flip_` instead of
/// their own, newer slots and the head are added to it; once per turn the newer slots become old
/// ones. A sum therefore has only the rounding of the contributions still in the window, whatever
/// has left it, and sums of non-negative contributions are never negative.
template <size_t Fields, size_t Slots = 512>
class alignas(64) ExpiringSum {
  static_assert(Fields > 0 && std::has_single_bit(Slots) && Slots >= 8);

 public:
  using Values = std::array<double, Fields>;

  /// Windows outside this range count as its nearest end.
  static constexpr Nanos kMinWindow{static_cast<int64_t>(Slots * 3 / 8)};
  static constexpr Nanos kMaxWindow{int64_t{1} << 60};

  /// Goes to `now`, |now| < 2^61 ns (an earlier one than before counts as the last one), and makes
  /// the window `window` long, until the next call.
  void advance(Nanos now, Nanos window) {
    now_ = std::max(now_, now.count());
    const int64_t length = std::clamp(window, kMinWindow, kMaxWindow).count();
    const int wanted = wanted_shift(length);
    if (wanted > shift_) [[unlikely]]
      coarsen(wanted - shift_);
    move_head(now_ >> shift_);
    if (wanted < shift_) [[unlikely]]
      refine(shift_ - wanted);
    move_tail(now_ - length);
  }

  /// Adds at the time of the last advance.
  void add(const Values& v) {
    for (size_t f = 0; f < Fields; ++f) head_[f] += v[f];
  }

  /// The sums over contributions whose age was less than the window at the last advance.
  [[nodiscard]] Values totals() const {
    Values sum;
    for (size_t f = 0; f < Fields; ++f) sum[f] = older_[f] + head_[f];
    return sum;
  }

  /// The current resolution.
  [[nodiscard]] Nanos tick() const { return Nanos(int64_t{1} << shift_); }

  static constexpr size_t state_bytes() { return sizeof(ExpiringSum); }

 private:
  static constexpr auto kSlots = static_cast<int64_t>(Slots);
  // Ticks per window: at least, as chosen at a change at most, and at most. The gaps between them
  // are the hysteresis: the window must move by a seventh before the tick changes back.
  static constexpr int64_t kLeast = kSlots * 3 / 8, kChosen = kSlots * 3 / 4,
                           kMost = kSlots * 7 / 8;

  [[nodiscard]] int wanted_shift(int64_t length) const {
    if (length <= kMost << shift_ && length >= kLeast << shift_) [[likely]]
      return shift_;
    return std::bit_width(static_cast<uint64_t>((length - 1) / kChosen));
  }

  [[nodiscard]] Values& slot(int64_t tick) { return ring_[static_cast<size_t>(tick) % Slots]; }
  [[nodiscard]] int64_t oldest() const { return head_tick_ - kSlots + 1; }

  static void accumulate(Values& sum, const Values& v) {
    for (size_t f = 0; f < Fields; ++f) sum[f] += v[f];
  }

  void move_head(int64_t to) {
    if (to == head_tick_) return;
    if (to - head_tick_ >= kSlots) [[unlikely]] {
      ring_.fill(Values{});
      base_ = Values{};
      recent_ = Values{};
      flip_ = to;
    } else {
      slot(head_tick_) = head_;
      accumulate(recent_, head_);
      for (int64_t t = head_tick_ + 1; t < to; ++t) slot(t) = Values{};
    }
    head_ = Values{};
    head_tick_ = to;
  }

  // The window begins just after `time`. Its first tick is always before the head's.
  void move_tail(int64_t time) {
    const int64_t tail = time >> shift_;
    if (tail >= flip_) settle();
    const Values& from = slot(tail);
    const Values& next = tail + 1 == flip_ ? base_ : slot(tail + 1);
    const int64_t inside = ((tail + 1) << shift_) - 1 - time;
    const double share = static_cast<double>(inside) * per_tick_;
    for (size_t f = 0; f < Fields; ++f)
      older_[f] = recent_[f] + next[f] + share * (from[f] - next[f]);
  }

  // Turns the slots since the last flip into sums up to the head; their sum joins the older ones.
  void settle() {
    if (flip_ == head_tick_) return;
    Values sum{};
    for (int64_t t = head_tick_ - 1; t >= std::max(flip_, oldest()); --t) {
      accumulate(sum, slot(t));
      slot(t) = sum;
    }
    if (flip_ >= oldest()) accumulate(slot(flip_), base_);
    for (int64_t t = flip_ - 1; t >= oldest(); --t) accumulate(slot(t), sum);
    base_ = Values{};
    recent_ = Values{};
    flip_ = head_tick_;
  }

  // Every 2^k slots become one: of sums up to the head, the first one is theirs.
  void coarsen(int k) {
    settle();
    const auto sum_from = [&](int64_t tick) {
      return tick < head_tick_ ? slot(std::max(tick, oldest())) : base_;
    };
    std::array<Values, Slots> ring;
    const int64_t head = head_tick_ >> k;
    for (int64_t t = head - kSlots + 1; t <= head; ++t)
      ring[static_cast<size_t>(t) % Slots] = sum_from(t << k);
    base_ = ring[static_cast<size_t>(head) % Slots];
    replace(ring, head, shift_ + k);
  }

  // A slot becomes 2^k with equal parts of it; the head's part that is still to come gets none.
  void refine(int k) {
    settle();
    std::array<Values, Slots> ring;
    const int64_t head = now_ >> (shift_ - k);
    const int64_t begin = head_tick_ << k;
    const double part = 1 / static_cast<double>(head - begin + 1);
    const double small = std::ldexp(1, -k);
    for (int64_t t = head - kSlots + 1; t < head; ++t) {
      // What the slot's sum has of base_, of the slots before the head, and of the head.
      const double of_head = static_cast<double>(head - std::max(t, begin)) * part;
      const int64_t whole = t >> k;
      const Values& next = whole + 1 >= head_tick_ ? base_ : slot(whole + 1);
      const Values& from = whole == head_tick_ ? base_ : slot(whole);
      const double share = static_cast<double>(((whole + 1) << k) - t) * small;
      const double of_base = t < begin ? 1 : of_head + part;
      Values& sum = ring[static_cast<size_t>(t) % Slots];
      for (size_t f = 0; f < Fields; ++f)
        sum[f] = of_base * next[f] + share * (from[f] - next[f]) + of_head * head_[f];
    }
    for (double& v : base_) v *= part;
    for (double& v : head_) v *= part;
    replace(ring, head, shift_ - k);
  }

  void replace(const std::array<Values, Slots>& ring, int64_t head, int shift) {
    ring_ = ring;
    head_tick_ = flip_ = head;
    shift_ = shift;
    per_tick_ = std::ldexp(1, -shift);
  }

  // What every packet touches comes first.
  Values head_{};    // contributions of the head's tick
  Values older_{};   // everything before the head that is in the window
  Values recent_{};  // the slots from flip_ to before the head
  int64_t now_ = -(int64_t{1} << 61);
  int64_t head_tick_ = now_;
  int64_t flip_ = now_;  // slots before this tick hold sums up to it, slots from it their own
  int shift_ = 0;        // a tick is 2^shift_ ns
  double per_tick_ = 1;  // 2^-shift_
  Values base_{};        // part of the older slots' sums that lies in tick flip_ (after coarsening)
  alignas(64) std::array<Values, Slots> ring_{};
};

}  // namespace turnpike
