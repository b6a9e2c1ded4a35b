// SPDX-License-Identifier: BSD-3-Clause
// Any number of timers, each set, moved, cancelled and fired in constant time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike {

/// A place in one of the wheel's circular lists: a timer's, or the slot's own.
class TimerLink {
  friend class TimerWheel;
  TimerLink* next_ = nullptr;
  TimerLink* prev_ = nullptr;

 public:
  /// In a list, that is: the timer will fire.
  [[nodiscard]] bool armed() const { return next_ != nullptr; }
};

/// Lives inside what it times, at a fixed address. Before it goes away it must be cancelled,
/// unless the wheel is not used any more.
class Timer : public TimerLink {
 public:
  Timer() = default;
  explicit Timer(uint32_t k) : kind(k) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// As last given to schedule(), ns.
  [[nodiscard]] Nanos deadline() const { return deadline_; }

  uint32_t kind = 0;  // the owner's: what to do when it fires

 private:
  friend class TimerWheel;
  Nanos deadline_{0};
};
static_assert(sizeof(Timer) == 32, "two share a cache line");

/// A hierarchy of 64-slot wheels over ticks of 2^tick_shift ns that spans all of time. A timer is
/// filed under the highest group of six bits in which its tick differs from the current one, so
/// every slot's timers lie in the future of all lower wheels' and the next one is two bit scans
/// away. As time enters a slot of a higher wheel its timers are filed again, further down: each at
/// most once per wheel. Timers of one tick fire in the order in which they were scheduled.
class TimerWheel {
 public:
  /// `start` >= 0: the wheel's time until the first advance.
  TimerWheel(Nanos start, unsigned tick_shift)
      : shift_(tick_shift), current_(static_cast<uint64_t>(start.count()) >> tick_shift) {
    for (TimerLink& slot : slots_) slot.next_ = slot.prev_ = &slot;
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Arms the timer, or moves it if it is armed. A deadline in the past is due at once (at a tick's
  /// end if it lies in an unfinished one); kNever leaves the timer unarmed.
  void schedule(Timer& timer, Nanos at) {
    cancel(timer);
    timer.deadline_ = at;
    if (at != kNever) file(timer);
  }

  /// Moves an armed timer only if that changes the tick in which it fires.
  void adjust(Timer& timer, Nanos at) {
    if (!timer.armed() || tick_of(timer.deadline_) != tick_of(at)) schedule(timer, at);
  }

  /// Nothing happens if the timer is not armed.
  void cancel(Timer& timer) {
    if (!timer.armed()) return;
    unlink(timer);
    timer.next_ = nullptr;
  }

  /// When to call advance() next; kNever if no timer is armed. The earliest deadline rounded up to
  /// its tick, or, if that lies beyond the block of 64 ticks that advance() has reached, possibly
  /// the earlier start of the slot that it is filed in: advance() must be called then too, and may
  /// fire nothing.
  [[nodiscard]] Nanos next_deadline() const {
    if (wheels_ == 0) return kNever;
    const uint64_t tick = wheels_ & 1 ? current_ : next_slot().begin;
    constexpr auto kMax = static_cast<uint64_t>(kNever.count());
    return tick > kMax >> shift_ ? kNever : Nanos(static_cast<int64_t>(tick << shift_));
  }

  /// Timers that advance(now) is going to fire, as far as they are known at a glance: the first of
  /// each tick of the block of 64 that has been reached. For fetching what they will need.
  template <class F>
  void foresee(Nanos now, F&& visit) const {
    if (!(wheels_ & 2)) return;
    const uint64_t target = static_cast<uint64_t>(std::max<int64_t>(now.count(), 0)) >> shift_;
    const uint64_t left = target >> kBits > current_ >> kBits ? kWidth - 1 : target % kWidth;
    for (uint64_t due = occupied_[1] & (~uint64_t{0} >> (kWidth - 1 - left)); due != 0;
         due &= due - 1)
      visit(
          static_cast<Timer&>(*slots_[kWidth + static_cast<size_t>(std::countr_zero(due))].next_));
  }

  /// Fires timers whose deadline is `now` or earlier, never early and at most one tick late, in the
  /// order of their deadlines' ticks: calls on_expired(Timer&) with the timer unarmed. It may
  /// schedule and cancel any timer, this one too; what it makes due by `now` fires in the same
  /// call. Stops after `limit`, the rest stay due. Returns how many fired. Filing again is not
  /// limited. A `now` earlier than before counts as the last one.
  template <class F>
  size_t advance(Nanos now, size_t limit, F&& on_expired) {
    const uint64_t target =
        std::max(current_, static_cast<uint64_t>(std::max<int64_t>(now.count(), 0)) >> shift_);
    for (size_t fired = 0; fired < limit; ++fired) {
      while (!(wheels_ & 1)) {
        const Slot next = wheels_ != 0 ? next_slot() : Slot{};
        if (wheels_ == 0 || next.begin > target) {
          current_ = target;
          return fired;
        }
        current_ = next.begin;
        if (next.wheel == 1) {
          make_due(slot(1, next.index));
        } else {
          refile(slot(next.wheel, next.index));
        }
      }
      auto& timer = static_cast<Timer&>(*slots_[0].next_);
      __builtin_prefetch(timer.next_, 1);
      cancel(timer);
      on_expired(timer);
    }
    return limit;
  }

 private:
  static constexpr unsigned kBits = 6, kWidth = 1U << kBits;
  // Wheel 0 is the list of timers that are due (its slot 0); eleven more cover 64 bits of ticks.
  static constexpr unsigned kWheels = 1 + (64 + kBits - 1) / kBits;

  struct Slot {
    unsigned wheel = 0, index = 0;
    uint64_t begin = 0;  // its first tick
  };

  // The earliest one that is occupied, apart from the due list; there must be one.
  [[nodiscard]] Slot next_slot() const {
    const auto wheel = static_cast<unsigned>(std::countr_zero(wheels_));
    const auto index = static_cast<unsigned>(std::countr_zero(occupied_[wheel]));
    const unsigned low = (wheel - 1) * kBits;
    // Bits above the slot's own are the current tick's: two shifts, as one of 64 is undefined.
    const uint64_t above = current_ >> low >> kBits << kBits;
    return {wheel, index, (above | index) << low};
  }

  // The first tick that begins at that time or later.
  [[nodiscard]] uint64_t tick_of(Nanos at) const {
    return at.count() <= 0 ? 0 : ((static_cast<uint64_t>(at.count()) - 1) >> shift_) + 1;
  }

  void file(Timer& timer) {
    const uint64_t tick = tick_of(timer.deadline_);
    unsigned wheel = 0, index = 0;
    if (tick > current_) {
      wheel = 1 + static_cast<unsigned>(std::bit_width(tick ^ current_) - 1) / kBits;
      index = (tick >> ((wheel - 1) * kBits)) % kWidth;
    }
    append(slot(wheel, index), timer);
    occupied_[wheel] |= uint64_t{1} << index;
    wheels_ |= 1U << wheel;
  }

  // The slot is of the current tick and nothing else is due: the whole list goes over.
  void make_due(TimerLink& slot) {
    TimerLink& due = slots_[0];
    due.next_ = slot.next_;
    due.prev_ = slot.prev_;
    due.next_->prev_ = due.prev_->next_ = &due;
    vacate(slot);
    occupied_[0] = 1;
    wheels_ |= 1;
  }

  // The slot's first tick is the current one now: its timers belong further down, in their order.
  void refile(TimerLink& slot) {
    TimerLink* link = slot.next_;
    vacate(slot);
    while (link != &slot) {
      TimerLink* next = link->next_;
      __builtin_prefetch(next, 1);
      file(static_cast<Timer&>(*link));
      link = next;
    }
  }

  static void append(TimerLink& slot, TimerLink& link) {
    link.prev_ = slot.prev_;
    link.next_ = &slot;
    slot.prev_->next_ = &link;
    slot.prev_ = &link;
  }

  void unlink(TimerLink& link) {
    link.prev_->next_ = link.next_;
    link.next_->prev_ = link.prev_;
    if (link.next_ == link.prev_) vacate(*link.next_);  // it was alone: both are its slot
  }

  void vacate(TimerLink& slot) {
    slot.next_ = slot.prev_ = &slot;
    const auto place = static_cast<unsigned>(&slot - slots_.data());
    const unsigned wheel = place / kWidth;
    occupied_[wheel] &= ~(uint64_t{1} << place % kWidth);
    if (occupied_[wheel] == 0) wheels_ &= ~(1U << wheel);
  }

  [[nodiscard]] TimerLink& slot(unsigned wheel, unsigned index) {
    return slots_[wheel * kWidth + index];
  }

  unsigned shift_;
  unsigned wheels_ = 0;                       // bit i: wheel i is not empty
  uint64_t current_;                          // tick that has been reached
  std::array<uint64_t, kWheels> occupied_{};  // bit i: slot i is not empty
  std::array<TimerLink, kWheels * kWidth> slots_;
};

}  // namespace turnpike
