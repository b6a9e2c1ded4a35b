// SPDX-License-Identifier: BSD-3-Clause
// The sum of demand curves that expire one by one: a wheel of scheduled subtractions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/demand_curve.h"
#include "common/units/units.h"

namespace turnpike::fcp {

/// Sums of promises with individual lives. add() is O(1), advance() is O(1) per bucket in use in
/// each tick that passes; no allocation. A tick is 2^k ns, between 1/128 and 1/64 of the span given
/// to advance(); lives are clipped to two spans.
///
/// The sums change by exactly the slots' contents, so rounding leaves no residue beyond that of
/// binary64, and the sums of a bucket without promises are exactly zero.
class PromiseWheel {
 public:
  static constexpr size_t kSlots = 256;

  struct Sums {
    std::array<double, Knees::kBuckets> rate{};    // B/s, by bucket
    std::array<double, Knees::kBuckets> budget{};  // $/s, by bucket
    double rtt_rate = 0;                           // B/s of promises with a known round trip
    double rtt_sum = 0;                            // their sum of rate x round trip, B
  };

  /// Advances to `now` (an earlier time counts as the last one) and calls changed(bucket) for each
  /// bucket in which a promise expired or faded. `span` sets the resolution.
  template <class F>
  void advance(Nanos now, Nanos span, F&& changed) {
    now_ = std::max(now_, now.count());
    if (const int64_t tick = now_ >> shift_; tick != tick_) pass(tick, changed);
    fade(changed);
    const int64_t length = std::max<int64_t>(span.count(), kSlots);
    if (length >> shift_ > kMax || length >> shift_ < kMin) [[unlikely]]
      retick(std::bit_width(static_cast<uint64_t>(length / kMax)));
  }

  /// Converts lives to ticks for many promises at a time.
  struct Scale {
    float tick;    // s: no promise lives for less
    float ticks;   // ticks per second
    float passed;  // fraction of the current tick that has passed
  };
  [[nodiscard]] Scale scale() const {
    const auto length = static_cast<float>(int64_t{1} << shift_);
    return {.tick = length * 1e-9F, .ticks = 1e9F / length, .passed = passed()};
  }
  /// The slot of a promise made now with this life: the tick at whose start it has expired. It
  /// fades linearly during the tick before.
  [[nodiscard]] int64_t expiry(Nanos life) const {
    return std::clamp(((now_ + life.count()) >> shift_) + 1, tick_ + 1,
                      tick_ + static_cast<int64_t>(kSlots) - 1);
  }

  /// Adds a promise to slot `tick`, from expiry().
  void add(const Promise& p, int64_t tick) {
    const size_t at = index(tick);
    if (p.rate > 0) raise(at, p.bucket, p.rate, p.budget);
    if (p.rtt_rate != 0) {
      sums_.rtt_rate += raise(slots_[at].rtt_rate, p.rtt_rate);
      sums_.rtt_sum += raise(slots_[at].rtt_sum, p.rtt_sum);
    }
    last_ = std::max(last_, tick);
  }

  /// Promises made now, one array per field; entries may have rate 0.
  struct Many {
    size_t count;
    // Of each, (passed + life x ticks) x kBuckets + bucket, with the first term truncated to an
    // integer below kSlots - 1: see scale().
    const uint32_t* places;
    const float *rate, *budget, *rtt_rate, *rtt_sum;
  };
  /// Adds all of them, merging neighbours of equal place. Returns their buckets, one bit each.
  uint64_t add(const Many& many) {
    uint64_t buckets = 0;
    uint32_t latest = 0;
    double rtt_rate = 0, rtt_sum = 0;  // increase of the sums
    for (size_t k = 0; k < many.count;) {
      const uint32_t place = many.places[k];
      Promise p{.bucket = place % Knees::kBuckets,
                .rate = many.rate[k],
                .budget = many.budget[k],
                .rtt_rate = many.rtt_rate[k],
                .rtt_sum = many.rtt_sum[k]};
      for (++k; k < many.count && many.places[k] == place; ++k) {
        p.rate += many.rate[k];
        p.budget += many.budget[k];
        p.rtt_rate += many.rtt_rate[k];
        p.rtt_sum += many.rtt_sum[k];
      }
      const uint32_t ticks = place / Knees::kBuckets;
      const size_t at = index(tick_ + 1 + ticks);
      if (p.rate > 0) raise(at, p.bucket, p.rate, p.budget);
      rtt_rate += raise(slots_[at].rtt_rate, p.rtt_rate);
      rtt_sum += raise(slots_[at].rtt_sum, p.rtt_sum);
      latest = std::max(latest, ticks);
      buckets |= uint64_t{1} << p.bucket;
    }
    sums_.rtt_rate += rtt_rate;
    sums_.rtt_sum += rtt_sum;
    if (many.count > 0) last_ = std::max(last_, tick_ + 1 + latest);
    return buckets;
  }

  [[nodiscard]] const Sums& sums() const { return sums_; }
  [[nodiscard]] int64_t tick() const { return tick_; }
  /// Length of a tick: the shortest life.
  [[nodiscard]] Nanos resolution() const { return Nanos(int64_t{1} << shift_); }

 private:
  static constexpr int64_t kMax = kSlots / 2, kMin = kSlots / 8;  // ticks of a span
  static constexpr float kStep = 1.0F / 64;                       // of a tick, between fading steps

  struct Curve {
    float rate, budget;
  };
  // The part of a slot that is read even if it is empty: four of them per cache line.
  struct Slot {
    uint64_t used = 0;  // bit b: bucket b is not empty
    float rtt_rate = 0, rtt_sum = 0;
  };
  using Slots = std::array<Slot, kSlots>;
  // By bucket, then slot: the promises of a few flows lie in a few pages. Only entries whose slot
  // has the bucket's bit hold anything: memory that was never used is not touched.
  using Curves = std::array<std::array<Curve, kSlots>, Knees::kBuckets>;

  static size_t index(int64_t tick) { return static_cast<size_t>(tick) % kSlots; }

  /// Adds to a slot's figure. Returns the increase as rounded to binary32.
  static double raise(float& figure, float by) {
    const float before = figure;
    figure += by;
    return double{figure} - double{before};
  }

  void raise(size_t at, size_t b, float rate, float budget) {
    Slot& slot = slots_[at];
    Curve& curve = curves_[b][at];
    if ((slot.used >> b & 1) == 0) {
      slot.used |= uint64_t{1} << b;
      ++slots_of_[b];
      curve = {};
    }
    sums_.rate[b] += raise(curve.rate, rate);
    sums_.budget[b] += raise(curve.budget, budget);
  }

  [[nodiscard]] float passed() const {
    const int64_t length = int64_t{1} << shift_;
    return static_cast<float>(now_ & (length - 1)) / static_cast<float>(length);
  }

  template <class F>
  void pass(int64_t to, F&& changed) {
    for (int64_t t = tick_ + 1; t <= std::min(to, last_); ++t) empty(index(t), changed);
    tick_ = to;
    faded_ = 0;
    if (to >= last_) sums_.rtt_rate = sums_.rtt_sum = 0;
  }

  // Fades the next slot in proportion to the tick's elapsed part. Expiring whole slots at once
  // would make the sums, and so the price, a sawtooth of relative height tick / life.
  template <class F>
  void fade(F&& changed) {
    const size_t next = index(tick_ + 1);
    if (slots_[next].used == 0) return;
    const float now = passed();
    if (now < faded_ + kStep) return;
    const float share = (faded_ - now) / (1 - faded_);
    for (uint64_t left = slots_[next].used; left != 0; left &= left - 1) {
      const auto b = static_cast<size_t>(std::countr_zero(left));
      Curve& curve = curves_[b][next];
      sums_.rate[b] += raise(curve.rate, curve.rate * share);
      sums_.budget[b] += raise(curve.budget, curve.budget * share);
      changed(b);
    }
    faded_ = now;
  }

  template <class F>
  void empty(size_t at, F&& changed) {
    Slot& slot = slots_[at];
    for (uint64_t left = slot.used; left != 0; left &= left - 1) {
      const auto b = static_cast<size_t>(std::countr_zero(left));
      const bool none = --slots_of_[b] == 0;
      const Curve& curve = curves_[b][at];
      sums_.rate[b] = none ? 0 : sums_.rate[b] - curve.rate;
      sums_.budget[b] = none ? 0 : sums_.budget[b] - curve.budget;
      changed(b);
    }
    sums_.rtt_rate -= slot.rtt_rate;
    sums_.rtt_sum -= slot.rtt_sum;
    slot = {};
  }

  // Moves every promise to the nearest tick of the new length. The sums stay.
  void retick(int shift) {
    const Slots old = slots_;
    Curves old_curves;
    for (size_t at = 0; at < kSlots; ++at)
      for (uint64_t left = old[at].used; left != 0; left &= left - 1) {
        const auto b = static_cast<size_t>(std::countr_zero(left));
        old_curves[b][at] = curves_[b][at];
      }
    const int64_t from = tick_, to = last_, old_shift = shift_;
    const Sums before = sums_;
    slots_.fill({});
    slots_of_.fill(0);
    shift_ = shift;
    tick_ = last_ = now_ >> shift_;
    faded_ = 0;
    for (int64_t t = from + 1; t <= to; ++t) {
      const Slot& slot = old[index(t)];
      // By half a tick earlier, half of it would have faded.
      const int64_t half = (int64_t{1} << old_shift) / 2;
      const int64_t tick = expiry(Nanos(std::max<int64_t>((t << old_shift) - half - now_, 0)));
      for (uint64_t left = slot.used; left != 0; left &= left - 1) {
        const auto b = static_cast<size_t>(std::countr_zero(left));
        const Curve& curve = old_curves[b][index(t)];
        add({.bucket = b, .rate = curve.rate, .budget = curve.budget}, tick);
      }
      slots_[index(tick)].rtt_rate += slot.rtt_rate;
      slots_[index(tick)].rtt_sum += slot.rtt_sum;
    }
    sums_ = before;
  }

  Sums sums_;
  std::array<uint16_t, Knees::kBuckets> slots_of_{};  // number of slots with that bucket
  int64_t now_ = 0;
  int64_t tick_ = 0;  // of now_
  int64_t last_ = 0;  // last tick with a promise
  int shift_ = 0;     // a tick is 2^shift_ ns
  float faded_ = 0;   // fraction of the current tick for which the next slot has faded
  alignas(64) Slots slots_{};
  alignas(64) Curves curves_;
};

}  // namespace turnpike::fcp
