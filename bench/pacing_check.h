// SPDX-License-Identifier: BSD-3-Clause
// How far the time between two packets of a paced flow is from the one asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/metrics/histogram.h"
#include "common/units/units.h"

namespace turnpike::bench {

class PacingCheck {
 public:
  /// `gap`: from one packet of a flow to the next, where nothing else is said of it; flows' ids lie
  /// below `flows`.
  PacingCheck(Nanos gap, size_t flows) : turns_(flows, {.gap = gap}) {}

  void set_gap(size_t flow, Nanos gap) { turns_[flow].gap = gap; }

  /// Who sends is polled at `now`.
  void polled(Nanos now) { longest_ = std::max(longest_, now - std::exchange(last_poll_, now)); }

  /// A packet of that flow has left at `moment`.
  void sent(size_t flow, Nanos moment) {
    Turn& turn = turns_[flow];
    const Nanos last = std::exchange(turn.last, moment);
    if (last != kNever)
      errors_.record(static_cast<uint64_t>(std::abs((moment - last - turn.gap).count())));
  }

  /// In ns, longer or shorter than they should be alike.
  [[nodiscard]] const metrics::Histogram& gap_errors() const { return errors_; }
  /// The longest time without a poll.
  [[nodiscard]] Nanos longest() const { return longest_; }

 private:
  struct Turn {
    Nanos gap;
    Nanos last = kNever;
  };

  std::vector<Turn> turns_;
  Nanos last_poll_ = kNever;  // the first one ends no time without
  Nanos longest_{0};
  metrics::Histogram errors_;
};

}  // namespace turnpike::bench
