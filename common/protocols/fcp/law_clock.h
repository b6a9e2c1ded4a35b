// SPDX-License-Identifier: BSD-3-Clause
// Time as a link's law counts it: what nobody ran in is left out.
#pragma once

#include <algorithm>

#include "common/units/units.h"

namespace turnpike::fcp {

/// Promises live for a part of a round trip. To a link that hears nothing for so long its flows are
/// gone and its capacity is free. But on a machine that others use, too, a program stands still for
/// longer than that, and all of its flows at once.
///
/// Flows that have promised to go on fall silent one by one. When all do so at once, for kPart of a
/// promise's life in which kSilence bytes were expected, this clock stands still until the next
/// arrival, for at most kMaxHeld. What comes within kPart of a life after that faster than
/// expected was due meanwhile: it takes the time that it would have taken.
///
/// A machine that stalled is likely to stall again before promises are renewed, and each silence
/// takes its part of their lives. So for kRecent lives after a stall kPartAfter is enough.
class LawClock {
 public:
  static constexpr double kSilence = 4 * 1500;               // B
  static constexpr double kPart = 0.5;                       // of a promise's life
  static constexpr double kPartAfter = 0.125, kRecent = 16;  // lives
  static constexpr Nanos kMaxHeld = 100_ms;

  /// The time at `now`; nothing arrives.
  [[nodiscard]] Nanos at(Nanos now) const { return heard_ + passed(now); }

  /// `bytes` arrive, whose law reads `now` from a clock. Returns the time.
  Nanos arrive(Nanos now, double bytes) {
    since_ = passed(now);
    if (const Nanos held = now - arrival_ - since_; held > Nanos(0)) [[unlikely]] {
      owed_ = held;
      made_up_until_ = now + least_;
      surplus_ = Nanos(0);
      stalled_ = true;
      stall_ = now;
    }
    if (owed_ > Nanos(0)) [[unlikely]]
      since_ += make_up(now, bytes);
    arrival_ = now;
    return heard_ += since_;
  }

  /// Of what has arrived just now, the bytes of flows that go on. `life`: of their promises, s.
  void expect(double bytes, double life) {
    rate_ = (rate_ * life + bytes) / (life + to_seconds(since_));
    if (stalled_ && to_seconds(arrival_ - stall_) > kRecent * life) [[unlikely]]
      stalled_ = false;
    least_ = from_seconds((stalled_ ? kPartAfter : kPart) * life);
  }

 private:
  // Since the last arrival, by this clock.
  [[nodiscard]] Nanos passed(Nanos now) const {
    const Nanos silent = now - arrival_;
    if (silent <= least_ || silent > kMaxHeld) [[likely]]
      return silent;
    return std::min(silent, std::max(least_, from_seconds(kSilence / rate_)));
  }

  // Of what is owed, as much as these bytes take beyond the time that has passed.
  Nanos make_up(Nanos now, double bytes) {
    if (now > made_up_until_) owed_ = Nanos(0);
    surplus_ += from_seconds(std::min(bytes / rate_, to_seconds(kMaxHeld))) - since_;
    const Nanos made_up = std::clamp(surplus_, Nanos(0), owed_);
    surplus_ -= made_up;
    owed_ -= made_up;
    return made_up;
  }

  Nanos arrival_{0};        // the last one
  Nanos heard_{0};          // when that was by this clock
  Nanos since_{0};          // the one before, by this clock
  Nanos least_{kNever};     // that a silence takes
  double rate_ = 0;         // B/s, expected
  Nanos stall_{0};          // end of the last stall, by the caller's clock
  bool stalled_ = false;    // it was less than kRecent lives ago
  Nanos owed_{0};           // that the clock stood still and may make up for
  Nanos made_up_until_{0};  // by the caller's clock
  Nanos surplus_{0};        // that bytes have taken beyond the time that passed since
};

}  // namespace turnpike::fcp
