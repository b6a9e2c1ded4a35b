// SPDX-License-Identifier: BSD-3-Clause
// The clock of a link's law, which leaves out stalls of the machine.
#pragma once

#include <algorithm>

#include "common/units/units.h"

namespace turnpike::fcp {

/// Promises live for a fraction of a round trip. A link without arrivals for that long concludes
/// that its flows have ended and its capacity is free. On a shared machine a program may be
/// descheduled for longer than that, and all of its flows fall silent at once.
///
/// Flows that have promised to continue normally stop one by one. If all stop at once, for kPart of
/// a promise's life in which kSilence packets were expected, this clock stops until the next
/// arrival; a silence longer than kMaxHeld counts in full. Bytes that arrive within kPart of a life
/// afterwards, faster than expected, were due during the stop: for them the clock advances by the
/// time that they would have taken.
///
/// A machine that stalled is likely to stall again before promises are renewed, and each silence
/// uses up a part of their lives. So for kRecent lives after a stall kPartAfter suffices.
///
/// Hosts that sleep between bursts are silent again and again: a silence must also be kUsual times
/// as long as the mean of the last kRecent lives, in which each one counts by its length.
class LawClock {
 public:
  static constexpr double kSilence = 4;                      // packets
  static constexpr double kPart = 0.5;                       // of a promise's life
  static constexpr double kPartAfter = 0.125, kRecent = 16;  // lives
  static constexpr double kUsual = 2;
  static constexpr Nanos kMaxHeld = 100_ms;

  /// Time of this clock at the caller's `now`, without an arrival.
  [[nodiscard]] Nanos at(Nanos now) const { return heard_ + passed(now); }

  /// Call when `bytes` arrive at the caller's `now`. Returns this clock's time.
  Nanos arrive(Nanos now, double bytes) {
    since_ = passed(now);
    // A stall counts as the shortest one, or it would hide the next.
    silent_ = rate_ > 0 ? to_seconds(std::min(now - arrival_, least_)) : 0;
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

  /// `bytes` of the last arrival are of flows that continue. `life`: of their promises, s;
  /// `packet`: size of the link's packets, B.
  void expect(double bytes, double life, double packet) {
    silence_ = kSilence * packet;
    rate_ = (rate_ * life + bytes) / (life + to_seconds(since_));
    if (stalled_ && to_seconds(arrival_ - stall_) > kRecent * life) [[unlikely]]
      stalled_ = false;
    usual_ += (silent_ - usual_) * silent_ / (silent_ + kRecent * life);
    const double part = stalled_ ? kPartAfter : kPart;
    least_ = from_seconds(std::max(part * life, kUsual * usual_));
  }

 private:
  // Time since the last arrival, by this clock.
  [[nodiscard]] Nanos passed(Nanos now) const {
    const Nanos silent = now - arrival_;
    if (silent <= least_ || silent > kMaxHeld) [[likely]]
      return silent;
    return std::min(silent, std::max(least_, from_seconds(silence_ / rate_)));
  }

  // Time to make up for: the part of `owed_` that these bytes take beyond the time that has passed.
  Nanos make_up(Nanos now, double bytes) {
    if (now > made_up_until_) owed_ = Nanos(0);
    surplus_ += from_seconds(std::min(bytes / rate_, to_seconds(kMaxHeld))) - since_;
    const Nanos made_up = std::clamp(surplus_, Nanos(0), owed_);
    surplus_ -= made_up;
    owed_ -= made_up;
    return made_up;
  }

  Nanos arrival_{0};        // of the last packet, by the caller's clock
  Nanos heard_{0};          // of the last packet, by this clock
  Nanos since_{0};          // between the last two arrivals, by this clock
  Nanos least_{kNever};     // shortest silence that stops the clock
  double rate_ = 0;         // B/s, expected
  double silence_ = 0;      // B
  double silent_ = 0;       // s, before the last arrival, at most least_
  double usual_ = 0;        // s, mean silence
  Nanos stall_{0};          // end of the last stall, by the caller's clock
  bool stalled_ = false;    // that was less than kRecent lives ago
  Nanos owed_{0};           // time of the last stop that is not made up for
  Nanos made_up_until_{0};  // by the caller's clock
  Nanos surplus_{0};        // time that bytes took beyond the time passed since the stop
};

}  // namespace turnpike::fcp
