// SPDX-License-Identifier: BSD-3-Clause
// The charge of a link to the packets that an audit at the end of their paths checks.
#pragma once

#include <limits>
#include <memory>

#include "common/protocols/fcp/header_batch.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// Adds a link's past price to packets' `charged` (section 5 of the paper). It is the lowest price
/// within a few milliseconds of the time that the packet pays for. That time is known only to the
/// difference of two packets' delays before the link, which on a machine that shares its processors
/// is milliseconds; a price may change by many powers of ten between neighbouring packets, and an
/// audit must not accuse a sender that saw the lower one.
class PastCharge {
 public:
  /// Does nothing until started.
  void start() { lowest_ = std::make_unique<Prices>(); }
  [[nodiscard]] bool on() const { return lowest_ != nullptr; }

  /// Call with every price that is stamped on packets.
  void record(Nanos now, double price) {
    if (on()) lowest_->record(now, -price);
  }

  /// Charges the rows' packets, except SYNs. `ago`: ns since the price that a packet pays for, by
  /// row. `unknown`: as in HeaderBatch::charge().
  void add(HeaderBatch& rows, const uint32_t* ago, double unknown, Nanos now) const {
    std::array<double, HeaderBatch::kMax> past;
    lowest_->at(now, {ago, rows.count}, past.data());
    for (size_t k = 0; k < rows.count; ++k) past[k] = -past[k];
    rows.charge(past.data(), unknown);
  }

 private:
  // Reaches back as far as `age` does: flows that wait for their turn pay with an old price.
  using Prices = TimeSeries<2048, 21, 2>;  // bins of 2.1 ms, for the last 4.3 s
  static_assert(Prices::reach(1) > UINT32_MAX);

  std::unique_ptr<Prices> lowest_;  // negated
};

}  // namespace turnpike::fcp
