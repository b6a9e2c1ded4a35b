// SPDX-License-Identifier: BSD-3-Clause
// Measures the error of the gaps between packets of paced flows.
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
  /// `gap`: the gap of each flow unless set_gap() changes it. Flow ids are less than `flows`.
  PacingCheck(Nanos gap, size_t flows) : turns_(flows, {.gap = gap}) {}

  void set_gap(size_t flow, Nanos gap) { turns_[flow].gap = gap; }

  /// The sender is polled at `now`.
  void polled(Nanos now) { longest_ = std::max(longest_, now - std::exchange(last_poll_, now)); }

  /// A packet of that flow left at `moment`.
  void sent(size_t flow, Nanos moment) {
    Turn& turn = turns_[flow];
    const Nanos last = std::exchange(turn.last, moment);
    if (last != kNever)
      errors_.record(static_cast<uint64_t>(std::abs((moment - last - turn.gap).count())));
  }

  /// Absolute errors of gaps, ns.
  [[nodiscard]] const metrics::Histogram& gap_errors() const { return errors_; }
  /// Longest time between two polls.
  [[nodiscard]] Nanos longest() const { return longest_; }

 private:
  struct Turn {
    Nanos gap;
    Nanos last = kNever;
  };

  std::vector<Turn> turns_;
  Nanos last_poll_ = kNever;  // kNever: no poll yet
  Nanos longest_{0};
  metrics::Histogram errors_;
};

}  // namespace turnpike::bench
