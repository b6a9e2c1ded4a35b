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
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// As last given to schedule(), ns.
  [[nodiscard]] Nanos deadline() const { return deadline_; }

 private:
  friend class TimerWheel;
  Nanos deadline_{0};
};
static_assert(sizeof(Timer) == 24);

/// A hierarchy of wheels over ticks of 2^tick_shift ns that spans all of time. Wheel w has slots of
/// 1024^(w-1) ticks and covers two blocks of 1024 slots: the one that the current tick lies in and
/// the next. A timer is filed in the lowest wheel that covers its tick. Before time enters a slot
/// of a higher wheel its timers are filed again, further down, each at most once per wheel: a few
/// for each timer that fires and by calls of advance() that fire none. Thousands at once would keep
/// what is due waiting, and wait for the memory at every step from one timer to the next, which
/// passes while others fire. Timers of one tick fire in the order in which they were scheduled.
class TimerWheel {
 public:
  static constexpr unsigned kBlock = 1024;  // slots

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
  /// its tick, or, if that lies beyond the block of ticks that advance() has reached, possibly
  /// the earlier start of the slot that it is filed in: advance() must be called then too, and may
  /// fire nothing.
  [[nodiscard]] Nanos next_deadline() const {
    if (wheels_ == 0) return kNever;
    const uint64_t tick = wheels_ & 1 ? current_ : next_tick();
    constexpr auto kMax = static_cast<uint64_t>(kNever.count());
    return tick > kMax >> shift_ ? kNever : Nanos(static_cast<int64_t>(tick << shift_));
  }

  /// Timers that advance(now) is going to fire, as far as they are known at a glance: the first of
  /// each tick of the block that has been reached. For fetching what they will need.
  template <class F>
  void foresee(Nanos now, F&& visit) const {
    const uint64_t target = static_cast<uint64_t>(std::max<int64_t>(now.count(), 0)) >> shift_;
    const uint64_t last = block(1, target) > block(1, current_) ? kBlock - 1 : target % kBlock;
    const unsigned first = place(1, current_) / kBlock * (kBlock / kWord);
    for (unsigned words = filled(1, block(1, current_)); words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      if (word > last / kWord) return;
      uint64_t due = occupied_[first + word];
      if (word == last / kWord) due &= ~uint64_t{0} >> (kWord - 1 - last % kWord);
      for (; due != 0; due &= due - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(due));
        visit(static_cast<Timer&>(*slots_[(first + word) * kWord + slot].next_));
      }
    }
  }

  /// Fires timers whose deadline is `now` or earlier, never early and at most one tick late, in the
  /// order of their deadlines' ticks: calls on_expired(Timer&) with the timer unarmed. It may
  /// schedule and cancel any timer, this one too; what it makes due by `now` fires in the same
  /// call. Stops after `limit`, the rest stay due. Returns how many fired. A `now` earlier than
  /// before counts as the last one.
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
            for (unsigned n = 0; n < kAhead; ++n) file_ahead();
          return fired;
        }
        current_ = next;
        if (occupied(place(1, current_))) make_due(slots_[place(1, current_)]);
        if (current_ % kBlock == 0) enter_block();
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
  static constexpr unsigned kBits = std::countr_zero(kBlock), kSlots = 2 * kBlock;
  static constexpr unsigned kWord = 64;  // slots whose bits share a word
  static constexpr unsigned kWords = kSlots / kWord;
  // Wheel 0 is the list of timers that are due (its slot 0); seven more cover 64 bits of ticks.
  static constexpr unsigned kWheels = 1 + (64 + kBits - 1) / kBits;
  // As many timers of each wheel are filed again by a call that fires none. For each that fires it
  // is one, which keeps pace: as many come closer as are scheduled anew.
  static constexpr unsigned kAhead = 8;

  // Which of that wheel's blocks a tick lies in. Two shifts, as one of 66 is undefined.
  static uint64_t block(unsigned wheel, uint64_t tick) {
    return tick >> (wheel - 1) * kBits >> kBits;
  }
  // The lowest wheel whose block is longer than so many ticks (> 0).
  static unsigned wheel_of(uint64_t ticks) {
    return static_cast<unsigned>(std::bit_width(ticks) - 1) / kBits + 1;
  }
  // That wheel's slot of a tick, as an index into slots_.
  static unsigned place(unsigned wheel, uint64_t tick) {
    return wheel * kSlots + static_cast<unsigned>((tick >> (wheel - 1) * kBits) % kSlots);
  }
  [[nodiscard]] bool occupied(unsigned place) const {
    return occupied_[place / kWord] >> place % kWord & 1;
  }
  void occupy(unsigned place) {
    const unsigned word = place / kWord;
    occupied_[word] |= uint64_t{1} << place % kWord;
    filled_[word / kWords] |= uint32_t{1} << word % kWords;
    wheels_ |= 1U << word / kWords;
  }
  // Words of bits of that wheel's block that are not 0: bit i is its i-th.
  [[nodiscard]] unsigned filled(unsigned wheel, uint64_t block) const {
    return filled_[wheel] >> block % 2 * (kWords / 2) & ((1U << kWords / 2) - 1);
  }

  // With which the earliest occupied slot begins, apart from the due list; there must be one.
  [[nodiscard]] uint64_t next_tick() const {
    uint64_t next = UINT64_MAX;
    for (unsigned left = wheels_ & ~1U; left != 0; left &= left - 1) {
      const auto wheel = static_cast<unsigned>(std::countr_zero(left));
      const uint64_t here = block(wheel, current_);
      uint64_t of = here;
      unsigned index = first_of(wheel, of);
      if (index == kBlock) index = first_of(wheel, ++of);
      next = std::min(next, (of << kBits | index) << (wheel - 1) * kBits);
      if (of == here) break;  // higher wheels' slots begin in later blocks of this wheel
    }
    return next;
  }

  // The first occupied slot of that wheel's block, counted from its beginning; kBlock: none.
  [[nodiscard]] unsigned first_of(unsigned wheel, uint64_t block) const {
    const unsigned words = filled(wheel, block);
    if (words == 0) return kBlock;
    const auto word = static_cast<unsigned>(std::countr_zero(words));
    const uint64_t slots = occupied_[wheel * kWords + block % 2 * (kWords / 2) + word];
    return word * kWord + static_cast<unsigned>(std::countr_zero(slots));
  }

  // The first tick that begins at that time or later.
  [[nodiscard]] uint64_t tick_of(Nanos at) const {
    return at.count() <= 0 ? 0 : ((static_cast<uint64_t>(at.count()) - 1) >> shift_) + 1;
  }

  void file(Timer& timer) {
    const uint64_t tick = tick_of(timer.deadline_);
    put(timer, tick > current_ ? place_of(tick) : 0);
  }

  void put(Timer& timer, unsigned at) {
    append(slots_[at], timer);
    occupy(at);
  }

  // Of a tick in the future.
  [[nodiscard]] unsigned place_of(uint64_t tick) const {
    // The lowest wheel that covers any tick so far ahead; the one below it may reach this one in
    // its next block.
    unsigned wheel = wheel_of(tick - current_);
    if (wheel > 1 && block(wheel - 1, tick) == block(wheel - 1, current_) + 1) --wheel;
    const unsigned top = wheel_of(tick ^ current_);  // the lowest with both ticks in one block
    unsigned at = place(wheel, tick);
    // Timers of the same tick that came earlier may still wait in a slot further up.
    for (; wheel < top; ++wheel)
      if (const unsigned above = place(wheel + 1, tick); occupied(above)) at = above;
    return at;
  }

  // The slot is of the current tick and nothing else is due: the whole list goes over.
  void make_due(TimerLink& slot) {
    TimerLink& due = slots_[0];
    due.next_ = slot.next_;
    due.prev_ = slot.prev_;
    due.next_->prev_ = due.prev_->next_ = &due;
    vacate(slot);
    occupy(0);
  }

  // Time enters another block of wheel 1, and perhaps of higher ones: what is left in their slots
  // of it belongs further down; the lowest wheel's timers of a tick came first.
  void enter_block() {
    for (unsigned left = wheels_ & ~3U; left != 0; left &= left - 1) {
      const unsigned at = place(static_cast<unsigned>(std::countr_zero(left)), current_);
      if (!occupied(at)) continue;
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

  // The same for one timer of each wheel's block that comes next. What the next call needs is
  // fetched meanwhile.
  void file_ahead() {
    for (unsigned left = wheels_ & ~3U; left != 0; left &= left - 1) {
      const auto wheel = static_cast<unsigned>(std::countr_zero(left));
      const unsigned at = place(wheel, (block(wheel - 1, current_) + 1) << (wheel - 1) * kBits);
      if (!occupied(at)) continue;
      auto& timer = static_cast<Timer&>(*slots_[at].next_);
      __builtin_prefetch(timer.next_->next_, 1);
      unlink(timer);
      // Those of its tick that came earlier were ahead of it on the way here, too.
      put(timer, place(wheel - 1, tick_of(timer.deadline_)));
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
    const auto at = static_cast<unsigned>(&slot - slots_.data());
    const unsigned word = at / kWord, wheel = at / kSlots;
    occupied_[word] &= ~(uint64_t{1} << at % kWord);
    if (occupied_[word] != 0) return;
    filled_[wheel] &= ~(uint32_t{1} << word % kWords);
    if (filled_[wheel] == 0) wheels_ &= ~(1U << wheel);
  }

  unsigned shift_;
  unsigned wheels_ = 0;                                // bit i: wheel i is not empty
  uint64_t current_;                                   // tick that has been reached
  std::array<uint32_t, kWheels> filled_{};             // a bit per word of the next: it is not 0
  std::array<uint64_t, kWheels * kWords> occupied_{};  // a bit per slot: it is not empty
  std::array<TimerLink, kWheels * kSlots> slots_;
};

}  // namespace turnpike
