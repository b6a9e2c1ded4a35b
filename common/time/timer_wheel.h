// SPDX-License-Identifier: BSD-3-Clause
// Any number of timers, each set, moved, cancelled and fired in constant time.
//
// Example:
//
//     TimerWheel wheel(Nanos(0), 10);  // starts at 0 ns, has ticks of 2^10 ns
//     Timer timeout;
//     wheel.schedule(timeout, 5_ms);
//     const Nanos poll_at = wheel.next_deadline();
//     const size_t fired = wheel.advance(poll_at, 64, [&](Timer& expired) {
//       wheel.schedule(expired, expired.deadline() + 5_ms);
//     });
//     wheel.cancel(timeout);
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "common/time/slot_set.h"
#include "common/units/units.h"

namespace turnpike {

/// An element of one of the wheel's circular lists: a timer, or a slot's head.
class TimerLink {
  friend class TimerWheel;
  TimerLink* next_ = nullptr;
  TimerLink* prev_ = nullptr;

 public:
  /// Whether the timer is in a list and will fire.
  [[nodiscard]] bool armed() const { return next_ != nullptr; }
};

/// A member of the timed object, at a fixed address. Cancel it before it is destroyed, unless the
/// wheel is no longer used.
class Timer : public TimerLink {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// The last argument of schedule(), ns.
  [[nodiscard]] Nanos deadline() const { return deadline_; }

 private:
  friend class TimerWheel;
  Nanos deadline_{0};
};
static_assert(sizeof(Timer) == 24);

/// A hierarchy of wheels over ticks of 2^tick_shift ns that spans all of time. The lowest wheel has
/// a slot for each tick of two blocks, the current one and the next; the user sets a block's
/// length. A slot of the second wheel covers one such block, and a slot of each wheel above covers
/// 1024 slots of the one below; each of these wheels covers two blocks of 1024 slots. A timer is
/// filed in the lowest wheel that covers its tick. Before time enters a slot of a higher wheel, its
/// timers cascade to the wheel below, each at most once per wheel: a few for each timer that fires,
/// and a few in each call of advance() that fires none. Cascading is incremental, so that no call
/// stalls on thousands of cache misses; prefetches overlap with firing. Timers of one tick fire in
/// the order in which they were scheduled.
class TimerWheel {
 public:
  static constexpr unsigned kMinBits = 10, kMaxBits = 20;

  /// `start` >= 0: the wheel's time until the first advance(). A block of the lowest wheel has
  /// 2^block_bits ticks (kMinBits to kMaxBits) of 32 B each.
  TimerWheel(Nanos start, unsigned tick_shift, unsigned block_bits = kMinBits)
      : shift_(tick_shift),
        bits_(block_bits),
        current_(static_cast<uint64_t>(start.count()) >> tick_shift),
        occupied_(kFirst + (size_t{2} << block_bits)),
        slots_(kFirst + (size_t{2} << block_bits)) {
    clear(slots_[0]);
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// block_bits for this many timers: one tick per timer. Then periodic timers are seldom set
  /// beyond the next block, which would file them twice, and seldom share a tick, which would
  /// serialise their cache misses.
  static unsigned block_bits_for(size_t timers) {
    return std::clamp<unsigned>(std::bit_width(timers), kMinBits, kMaxBits);
  }

  /// Arms the timer, or moves it if it is armed. A deadline in the past is due at once (at the end
  /// of its tick, if that is the current one); kNever leaves the timer unarmed.
  void schedule(Timer& timer, Nanos at) {
    cancel(timer);
    timer.deadline_ = at;
    if (at != kNever) file(timer);
  }

  /// Moves an armed timer only if that changes the tick in which it fires.
  void adjust(Timer& timer, Nanos at) {
    if (!timer.armed() || tick_of(timer.deadline_) != tick_of(at)) schedule(timer, at);
  }

  /// Does nothing if the timer is not armed.
  void cancel(Timer& timer) {
    if (!timer.armed()) return;
    unlink(timer);
    timer.next_ = nullptr;
  }

  /// The time of the next advance(); kNever if no timer is armed. It is the earliest deadline
  /// rounded up to its tick. If that lies beyond the current block, it may be the earlier start of
  /// the deadline's slot: the call then may fire nothing.
  [[nodiscard]] Nanos next_deadline() const {
    if (wheels_ == 0) return kNever;
    const uint64_t tick = wheels_ & 1 ? current_ : next_tick();
    constexpr auto kMax = static_cast<uint64_t>(kNever.count());
    return tick > kMax >> shift_ ? kNever : Nanos(static_cast<int64_t>(tick << shift_));
  }

  /// Calls visit(Timer&) for the first timer of each tick that advance(now) will fire, within the
  /// current block only. For prefetching.
  template <class F>
  void foresee(Nanos now, F&& visit) const {
    if (!(wheels_ & 2)) return;
    const uint64_t target = static_cast<uint64_t>(std::max<int64_t>(now.count(), 0)) >> shift_;
    const size_t end = place(1, std::clamp(target, current_, last_tick())) + 1;
    for (size_t at = occupied_.next(place(1, current_), end); at < end;
         at = occupied_.next(at + 1, end))
      visit(static_cast<Timer&>(*slots_[at].next_));
  }

  /// The timer scheduled next for the same tick as a timer from foresee(), or null.
  [[nodiscard]] const Timer* after(const Timer& timer) const {
    const TimerLink* next = timer.next_;
    const bool is_slot = next >= &slots_[0] && next < &slots_[0] + slots_.size();
    return is_slot ? nullptr : static_cast<const Timer*>(next);
  }

  /// Fires timers whose deadline is `now` or earlier, never early and at most one tick late, in the
  /// order of their ticks: calls on_expired(Timer&) with the timer unarmed. The callback may
  /// schedule and cancel any timer, including this one; timers that it makes due by `now` fire in
  /// the same call. Stops after `limit`, the rest stay due. Returns the number fired. An earlier
  /// `now` than before counts as the last one.
  template <class F>
  size_t advance(Nanos now, size_t limit, F&& on_expired) {
    const uint64_t target =
        std::max(current_, static_cast<uint64_t>(std::max<int64_t>(now.count(), 0)) >> shift_);
    for (size_t fired = 0; fired < limit; ++fired) {
      while (!(wheels_ & 1)) {
        const uint64_t next = wheels_ != 0 ? next_tick() : 0;
        if (wheels_ == 0 || next > target) {
          current_ = target;
          if (fired == 0)
            for (unsigned n = 0; n < kCascadeBatch && file_ahead(); ++n) {
            }
          return fired;
        }
        current_ = next;
        if (occupied_.contains(place(1, current_))) make_due(slots_[place(1, current_)]);
        if (block(1, current_) << bits_ == current_) enter_block();
      }
      auto& timer = static_cast<Timer&>(*slots_[0].next_);
      __builtin_prefetch(timer.next_, 1);
      cancel(timer);
      on_expired(timer);
      file_ahead();
    }
    return limit;
  }

 private:
  // Memory that is not touched, as far as it never was in use before.
  class Slots {
   public:
    explicit Slots(size_t size)
        : size_(size), links_(static_cast<TimerLink*>(std::malloc(size * sizeof(TimerLink)))) {
      if (links_ == nullptr) throw std::bad_alloc();
    }
    [[nodiscard]] TimerLink& operator[](size_t i) { return links_.get()[i]; }
    [[nodiscard]] const TimerLink& operator[](size_t i) const { return links_.get()[i]; }
    [[nodiscard]] size_t size() const { return size_; }

   private:
    struct Free {
      void operator()(TimerLink* links) const { std::free(links); }
    };
    size_t size_;
    std::unique_ptr<TimerLink, Free> links_;
  };

  // Wheel 0 is slot 0, the list of due timers; the others cover 64 bits of ticks.
  static constexpr unsigned kWheels = 1 + (64 + kMinBits - 1) / kMinBits;
  // Slots of a higher wheel, and the first slots in slots_ of the higher wheels and the lowest.
  static constexpr size_t kSlots = size_t{2} << kMinBits, kUpper = 64;
  static constexpr size_t kFirst = kUpper + (kWheels - 2) * kSlots;
  // Timers of each wheel that a call without expiries cascades. A call cascades one for each timer
  // that it fires, which keeps pace: as many approach as are scheduled anew.
  static constexpr unsigned kCascadeBatch = 8;

  // log2 of the ticks per slot of that wheel; below 64 for wheels that any tick needs.
  [[nodiscard]] unsigned slot_bits(unsigned wheel) const {
    return wheel == 1 ? 0 : bits_ + (wheel - 2) * kMinBits;
  }
  [[nodiscard]] unsigned block_bits(unsigned wheel) const { return wheel == 1 ? bits_ : kMinBits; }
  // The block of that wheel that a tick lies in. Two shifts, since a shift by 66 is undefined.
  [[nodiscard]] uint64_t block(unsigned wheel, uint64_t tick) const {
    return tick >> slot_bits(wheel) >> block_bits(wheel);
  }
  // The slot of that wheel for a tick, as an index into slots_.
  [[nodiscard]] size_t place(unsigned wheel, uint64_t tick) const {
    if (wheel == 1) return kFirst + (tick & ((uint64_t{2} << bits_) - 1));
    return kUpper + (wheel - 2) * kSlots + (tick >> slot_bits(wheel)) % kSlots;
  }
  static unsigned wheel_at(size_t place) {
    if (place >= kFirst) return 1;
    return place < kUpper ? 0 : static_cast<unsigned>((place - kUpper) / kSlots) + 2;
  }
  // The due list is a single slot: its wheel's bit is its whole state. Other slots that are not
  // occupied hold anything, so that a slot takes no memory before its first timer.
  void occupy(size_t place) {
    const unsigned wheel = wheel_at(place);
    if (place != 0 && occupied_.insert(place)) {
      ++filled_[wheel];
      clear(slots_[place]);
    }
    wheels_ |= 1U << wheel;
  }
  static void clear(TimerLink& slot) { slot.next_ = slot.prev_ = &slot; }

  // The last tick of the current block.
  [[nodiscard]] uint64_t last_tick() const { return current_ | ((uint64_t{1} << bits_) - 1); }

  // The first tick of the earliest occupied slot, the due list excluded; there must be one.
  [[nodiscard]] uint64_t next_tick() const {
    // Most often it lies in the current block.
    const size_t at_current = place(1, current_), end = place(1, last_tick()) + 1;
    if (const size_t at = occupied_.next(at_current, end); at < end)
      return current_ + (at - at_current);
    uint64_t next = UINT64_MAX;
    for (unsigned left = wheels_ & ~1U; left != 0; left &= left - 1) {
      const auto wheel = static_cast<unsigned>(std::countr_zero(left));
      const uint64_t here = block(wheel, current_), slots = uint64_t{1} << block_bits(wheel);
      uint64_t of = here;
      uint64_t index = first_of(wheel, of);
      if (index >= slots) index = first_of(wheel, ++of);
      next = std::min(next, (of << block_bits(wheel) | index) << slot_bits(wheel));
      if (of == here) break;  // slots of higher wheels begin in later blocks of this wheel
    }
    return next;
  }

  // The first occupied slot of that wheel's block, counted from the block's beginning; the number
  // of its slots or more: none.
  [[nodiscard]] uint64_t first_of(unsigned wheel, uint64_t block) const {
    const uint64_t slots = uint64_t{1} << block_bits(wheel);
    const size_t begin = place(wheel, 0) + (block % 2) * slots;
    return occupied_.next(begin, begin + slots) - begin;
  }

  // The first tick that begins at time `at` or later.
  [[nodiscard]] uint64_t tick_of(Nanos at) const {
    return at.count() <= 0 ? 0 : ((static_cast<uint64_t>(at.count()) - 1) >> shift_) + 1;
  }

  void file(Timer& timer) {
    const uint64_t tick = tick_of(timer.deadline_);
    put(timer, tick > current_ ? place_of(tick) : 0);
  }

  void put(Timer& timer, size_t at) {
    occupy(at);
    append(slots_[at], timer);
  }

  // The slot for a future tick.
  [[nodiscard]] size_t place_of(uint64_t tick) const {
    unsigned wheel = 1;
    while (block(wheel, tick) - block(wheel, current_) > 1) ++wheel;
    size_t at = place(wheel, tick);
    // Earlier timers of the same tick may still be in a slot of a higher wheel, whose block has not
    // been entered.
    for (; wheels_ >> wheel > 1 && block(wheel, tick) != block(wheel, current_); ++wheel)
      if (const size_t above = place(wheel + 1, tick); occupied_.contains(above)) at = above;
    return at;
  }

  // Moves the whole list of the current tick's slot to the due list, which is empty.
  void make_due(TimerLink& slot) {
    TimerLink& due = slots_[0];
    due.next_ = slot.next_;
    due.prev_ = slot.prev_;
    due.next_->prev_ = due.prev_->next_ = &due;
    vacate(slot);
    wheels_ |= 1;
  }

  // Time enters another block of wheel 1, and perhaps of higher wheels: moves the timers left in
  // their slots down. In the lowest wheel, earlier timers of a tick come first.
  void enter_block() {
    for (unsigned left = wheels_ & ~3U; left != 0; left &= left - 1) {
      const size_t at = place(static_cast<unsigned>(std::countr_zero(left)), current_);
      if (!occupied_.contains(at)) continue;
      TimerLink* link = slots_[at].next_;
      vacate(slots_[at]);
      while (link != &slots_[at]) {
        TimerLink* next = link->next_;
        __builtin_prefetch(next, 1);
        file(static_cast<Timer&>(*link));
        link = next;
      }
    }
  }

  // Moves one timer of each wheel's next block down, and prefetches for the next call. False: there
  // is none.
  bool file_ahead() {
    bool found = false;
    for (unsigned left = wheels_ & ~3U; left != 0; left &= left - 1) {
      const auto wheel = static_cast<unsigned>(std::countr_zero(left));
      const size_t at = place(wheel, (block(wheel - 1, current_) + 1) << slot_bits(wheel));
      if (!occupied_.contains(at)) continue;
      auto& timer = static_cast<Timer&>(*slots_[at].next_);
      __builtin_prefetch(timer.next_->next_, 1);
      unlink(timer);
      // Earlier timers of its tick preceded it on this path, too.
      put(timer, place(wheel - 1, tick_of(timer.deadline_)));
      found = true;
    }
    return found;
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
    const auto at = static_cast<size_t>(&slot - &slots_[0]);
    const unsigned wheel = wheel_at(at);
    if (at == 0) {
      clear(slot);
    } else {
      occupied_.erase(at);
      if (--filled_[wheel] != 0) return;
    }
    wheels_ &= ~(1U << wheel);
  }

  unsigned shift_, bits_;
  unsigned wheels_ = 0;                     // bit i: wheel i is not empty; bit 0: timers are due
  uint64_t current_;                        // the current tick
  std::array<uint32_t, kWheels> filled_{};  // number of occupied slots by wheel
  SlotSet occupied_;                        // occupied slots, except the due list
  Slots slots_;
};

}  // namespace turnpike
