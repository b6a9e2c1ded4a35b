// SPDX-License-Identifier: BSD-3-Clause
// Round trip times of a flow and the retransmission time-out they give (RFC 6298).
#pragma once

#include <algorithm>

#include "common/units/units.h"

namespace turnpike::sender {

class RoundTrip {
 public:
  static constexpr Nanos kFirstTimeout = 1_s;  // RFC 6298 (2.1)
  static constexpr Nanos kMaxTimeout = 60_s;   // RFC 6298 (2.5)
  static constexpr Nanos kMinReordering = 100_us;

  /// A packet that was sent once took `rtt` (> 0) to be acknowledged: RFC 6298 (2.2), (2.3). There
  /// is a sample per packet, and windows may go in clumps: a quarter of each would forget, packet
  /// by packet, by how much a round trip varies (RFC 7323 appendix G). So the variation rises at
  /// once and falls once per round trip, by the largest error that this one had.
  void sample(Nanos rtt, Nanos now) {
    latest_ = rtt;
    if (smoothed_.count() == 0) {
      smoothed_ = least_ = rtt;
      variation_ = rtt / 2;
      return;
    }
    least_ = min(least_, rtt);
    const Nanos error = smoothed_ < rtt ? rtt - smoothed_ : smoothed_ - rtt;
    smoothed_ += (rtt - smoothed_) / 8;
    largest_error_ = max(largest_error_, error);
    if (error < variation_ && now < round_ends_) return;
    variation_ += (max(error, largest_error_) - variation_) / 4;
    if (now < round_ends_) return;
    largest_error_ = Nanos(0);
    round_ends_ = now + smoothed_;
  }

  /// The flow's law says how soon is too soon.
  void set_least_timeout(Nanos least) { least_timeout_ = least; }

  [[nodiscard]] Nanos latest() const { return latest_; }
  [[nodiscard]] Nanos smoothed() const { return smoothed_; }
  [[nodiscard]] Nanos least() const { return least_; }

  /// How long to wait for an ACK after `backoff` time-outs in a row: RFC 6298 (2.3), (5.5).
  [[nodiscard]] Nanos timeout(unsigned backoff) const {
    Nanos t = kFirstTimeout;
    if (smoothed_.count() != 0) t = max(least_timeout_, smoothed_ + variation_ * 4);
    return min(kMaxTimeout, t * (int64_t{1} << std::min(backoff, 16U)));
  }

  /// How late a packet may be without being lost: a quarter of the least round trip (RFC 8985
  /// section 6.2 step 4), which no queue inflates. A window that grows with the queue lets a slow
  /// start overrun the queue for as much longer.
  [[nodiscard]] Nanos reordering() const { return max(kMinReordering, least_ / 4); }

 private:
  Nanos latest_{0}, smoothed_{0}, variation_{0}, least_{0};
  Nanos least_timeout_ = 200_ms;
  Nanos largest_error_{0}, round_ends_{0};
};

}  // namespace turnpike::sender
