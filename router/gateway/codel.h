// SPDX-License-Identifier: BSD-3-Clause
// CoDel (RFC 8289): when a queue has stood too long, which packets to drop or to mark.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/units/units.h"

namespace turnpike::gateway {

struct CodelParams {
  Nanos target = 20_ms;     // acceptable sojourn time
  Nanos interval = 100_ms;  // about the longest round trip of the flows
};

/// The state of one queue. Asked at each packet that leaves it.
class Codel {
 public:
  /// Whether the packet that has waited for `sojourn` is to be dropped or marked. `last`: nothing
  /// else waits; the last packet always goes (RFC 8289 section 4.4: less than an MTU waits).
  bool should_signal(Nanos sojourn, bool last, const CodelParams& params, Nanos now) {
    if (!above(sojourn, last, params, now)) {
      dropping_ = false;
      return false;
    }
    if (dropping_) {
      if (now < next_) return false;
      ++count_;
      next_ = control_law(next_, params);
      return true;
    }
    dropping_ = true;
    // Section 4.3: continues near the rate that controlled the queue, if that was not long ago.
    const uint32_t recent = count_ - first_count_;
    count_ = recent > 1 && now - next_ < params.interval * 16 ? recent : 1;
    first_count_ = count_;
    next_ = control_law(now, params);
    return true;
  }

 private:
  bool above(Nanos sojourn, bool last, const CodelParams& params, Nanos now) {
    if (sojourn < params.target || last) {
      first_above_ = Nanos(0);
      return false;
    }
    if (first_above_ == Nanos(0)) {
      first_above_ = now + params.interval;
      return false;
    }
    return now >= first_above_;
  }
  [[nodiscard]] Nanos control_law(Nanos from, const CodelParams& params) const {
    return from + from_nanoseconds(static_cast<double>(params.interval.count()) /
                                   std::sqrt(static_cast<double>(count_)));
  }

  Nanos first_above_{0};  // the queue has been above the target for an interval then; 0: it is not
  Nanos next_{0};         // time of the next signal
  uint32_t count_ = 0;    // signals since it began to drop
  uint32_t first_count_ = 0;
  bool dropping_ = false;
};

}  // namespace turnpike::gateway
