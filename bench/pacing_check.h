// SPDX-License-Identifier: BSD-3-Clause
// How far packets of paced flows are from the moments at which they should go, and whose fault it
// is: the pacer's, or the machine's, which gave the lcore no poll.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/metrics/histogram.h"
#include "common/units/units.h"
#include "sender/pacer.h"

namespace turnpike::bench {

/// Every flow has a clock of its own that ticks once per gap and is set back whenever a packet
/// comes before it, so that it shows the earliest moments that all of the flow's packets agree on.
/// A packet's lateness is its distance from the clock. What of it passed before the first poll that
/// found the packet due is the machine's, the rest the pacer's: its timer's tick, and the packets
/// that the same poll sent before.
class PacingCheck {
 public:
  /// `gap`: from one packet of a flow to the next; flows' ids lie below `flows`.
  PacingCheck(Nanos gap, size_t flows) : gap_(gap), flows_(flows) {}

  /// The sender is polled at `now`, before it does anything.
  void polled(Nanos now) {
    if (polls_ > 0) {
      const Nanos stall = now - poll(0);
      longest_ = std::max(longest_, stall);
      if (stall >= kMostLag) ++era_;
    }
    times_[polls_++ % times_.size()] = now;
  }

  /// A packet of that flow has left the sender at `moment`, not before the last poll.
  void sent(size_t flow, Nanos moment) {
    Flow& f = flows_[flow];
    if (f.last > Nanos(0)) errors_.record(magnitude(moment - f.last - gap_));
    f.last = moment;
    f.due += gap_;
    // A sender that is too late by this much gives up what it missed: the clock starts again.
    if (f.era != era_ || moment - f.due >= kMostLag) f.packets = 0;
    f.era = era_;
    if (f.packets++ == 0) f.due = f.began = moment;
    f.due = std::min(f.due, moment);
    if (moment - f.began < kSettle) return;
    const Nanos due = f.due, found = first_poll(due);
    lateness_.record(magnitude(moment - due));
    pacers_.record(magnitude(moment - found));
  }

  /// All in ns. Gaps between a flow's packets, longer or shorter than they should be.
  [[nodiscard]] const metrics::Histogram& gap_errors() const { return errors_; }
  /// Packets after their moments, and after the first poll that found them due.
  [[nodiscard]] const metrics::Histogram& lateness() const { return lateness_; }
  [[nodiscard]] const metrics::Histogram& pacers_own() const { return pacers_; }
  /// The longest time without a poll.
  [[nodiscard]] Nanos longest() const { return longest_; }

 private:
  static constexpr Nanos kMostLag = sender::Pacer::kLeastLag;
  // After a pause a flow's law may ask for less for some round trips; until then it does not count.
  static constexpr Nanos kSettle = 10_ms;
  struct Flow {
    Nanos last{0}, due{0};
    Nanos began{0};        // its clock
    uint32_t packets = 0;  // since then
    uint32_t era = 0;
  };

  static uint64_t magnitude(Nanos t) { return static_cast<uint64_t>(std::abs(t.count())); }
  [[nodiscard]] Nanos poll(uint64_t before_last) const {
    return times_[(polls_ - 1 - before_last) % times_.size()];
  }
  // At or after `due`; the oldest that is known if that lies further back.
  [[nodiscard]] Nanos first_poll(Nanos due) const {
    uint64_t i = 0;
    const uint64_t known = std::min<uint64_t>(polls_, times_.size());
    while (i + 1 < known && poll(i + 1) >= due) ++i;
    return std::max(poll(i), due);
  }

  Nanos gap_;
  std::vector<Flow> flows_;
  uint64_t polls_ = 0;
  std::array<Nanos, size_t{1} << 14> times_{};  // of the last polls
  Nanos longest_{0};
  uint32_t era_ = 0;  // moves with each stall that made senders give up time
  metrics::Histogram errors_, lateness_, pacers_;
};

}  // namespace turnpike::bench
