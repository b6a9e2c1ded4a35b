// SPDX-License-Identifier: BSD-3-Clause
// Due times of a flow's packets: exact on average, without credit for unused time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/units/units.h"

namespace turnpike::sender {

/// Rates in B/s. The due time follows the rate as a fluid would: when the rate changes halfway
/// between two packets, the half that is left goes at the new rate.
class Pacer {
 public:
  /// Catching up after a late poll goes back no further than this share of a round trip.
  static constexpr int64_t kLagDivisor = 4;
  static constexpr Nanos kMinLag = 1_ms;
  static constexpr double kSteep = 3;  // change of the price

  [[nodiscard]] Nanos due() const { return due_; }
  /// When a packet is due that may leave one slot of `size` B ahead of the pace.
  [[nodiscard]] Nanos due_ahead(uint32_t size) const {
    return due_ - from_nanoseconds(gap_of(size));
  }
  [[nodiscard]] double rate() const { return rate_; }

  /// A rate of nothing is one of a packet in weeks, so that a later rate scales what is left of it.
  void set_rate(double wanted, Nanos now) {
    const double rate = std::max(wanted, kMinRate);
    if (rate == rate_) return;
    if (rate_ > 0 && due_ > now) {
      const double left = static_cast<double>((due_ - now).count()) * (rate_ / rate);
      due_ = now + (left < kMaxGap ? from_nanoseconds(left) : Nanos(int64_t{kMaxGap}));
    }
    rate_ = rate;
  }

  /// The price of a byte has changed from `before` to `after`. The elapsed part of the gap before
  /// a packet of `size` B was meant for the old price, the whole packet pays the new one.
  ///
  /// - Where the price has more than tripled, the elapsed part is worth that much less of the
  ///   packet, or many flows that have saved up would spend too much when prices begin to rise.
  /// - Smaller changes go both ways, so the pace is left alone. Their sum is what the flow owes: a
  ///   token bucket on its way, as of an edge router (router/datapath/enforcement), forgets what
  ///   was paid too little but not what was paid too much. The flow waits for its debt beyond a
  ///   packet.
  ///
  /// `spent`: the part of the flow's budget that its next rate spends at the new price. The rest
  /// pays debts as well, which are counted in bytes that the rate sends meanwhile: a link that
  /// falls idle asks next to nothing, for which a debt is worth more bytes than the rate sends in
  /// an hour.
  void reprice(double before, double after, uint32_t size, double spent, Nanos now) {
    const double packet = size, worth = before / after * spent;       // of money, in bytes
    const double left = to_seconds(due_ - now) * rate_;               // B
    const double lacks = std::max(packet - left, 0.0) * (1 - worth);  // B
    double wait = after > kSteep * before ? lacks : 0;                // B
    double owed = std::max(owed_ * worth + (lacks - wait), 0.0);
    if (lacks > 0 && owed > packet) {
      wait += owed - packet;
      owed = packet;
    }
    owed_ = static_cast<float>(owed);
    if (wait > 0) due_ += from_nanoseconds(std::min(wait / rate_ * 1e9, double{kMaxGap}));
  }

  /// A packet of `size` left: the next one is due when it would have been sent at the rate.
  void sent(uint32_t size) {
    const double gap = gap_of(size) + fraction_;
    const auto whole = static_cast<int64_t>(gap);
    fraction_ = static_cast<float>(gap - static_cast<double>(whole));
    due_ += Nanos(whole);
  }

  /// The next packet goes no earlier than that, and those behind it later by as much.
  void postpone(Nanos until) { due_ = max(due_, until); }

  /// There is something to send again: time in which there was nothing is not made up for.
  void resume(Nanos now) {
    if (due_ < now) skip(now);
  }

  /// Gives up what lies too far back to be caught up with; returns how much time that was. The
  /// round trip is the least, which neither queues nor stalls inflate.
  Nanos forgive(Nanos now, Nanos rtt) {
    const Nanos earliest = now - max(kMinLag, rtt / kLagDivisor);
    return due_ < earliest ? skip(earliest) : Nanos(0);
  }

 private:
  static constexpr double kMinRate = 1e-3;                        // B/s
  static constexpr int64_t kMaxGap = int64_t{3600} * 1000000000;  // ns between two packets

  [[nodiscard]] double gap_of(uint32_t size) const {  // ns
    return std::min(size / rate_ * 1e9, double{kMaxGap});
  }

  // Nothing is sent until then: what is owed is paid meanwhile. Returns the time.
  Nanos skip(Nanos until) {
    const Nanos idle = until - std::exchange(due_, until);
    owed_ = static_cast<float>(std::max(owed_ - to_seconds(idle) * rate_, 0.0));
    return idle;
  }

  Nanos due_{0};
  double rate_ = 0;
  float fraction_ = 0;  // ns that due_ lacks
  float owed_ = 0;      // B at the present price that were paid beyond what their gaps were to cost
};

}  // namespace turnpike::sender
