// SPDX-License-Identifier: BSD-3-Clause
// The charge of a link to the packets that an audit at the end of their paths checks.
#pragma once

#include <limits>
#include <memory>

#include "common/protocols/fcp/header_batch.h"
#include "common/protocols/fcp/params.h"
#include "common/time/time_series.h"

namespace turnpike::fcp {

/// Adds a link's past price to packets' `charged` (section 5 of the paper). It is the lowest price
/// around the time that the packet pays for. That time is known only to the difference of two
/// packets' delays before the link; a price may change by many powers of ten between neighbouring
/// packets, and an audit must not accuse a sender that saw the lower one. So Audit::kOn takes the
/// lowest of a few milliseconds, as delays vary on a machine that shares its processors, and
/// Audit::kExact that of a few microseconds.
class PastCharge {
 public:
  /// Does nothing until started.
  void start(Audit audit) {
    if (audit == Audit::kExact) {
      exact_ = std::make_unique<Exact>();
    } else if (audit == Audit::kOn) {
      coarse_ = std::make_unique<Coarse>();
    }
  }
  [[nodiscard]] bool on() const { return coarse_ != nullptr || exact_ != nullptr; }

  /// Call with every price that is stamped on packets.
  void record(Nanos now, double price) {
    if (coarse_ != nullptr) coarse_->record(now, -price);
    if (exact_ != nullptr) exact_->record(now, -price);
  }

  /// Charges the rows' packets, except SYNs. `ago`: ns since the price that a packet pays for, by
  /// row. `unknown`: as in HeaderBatch::charge().
  void add(HeaderBatch& rows, const uint32_t* ago, double unknown, Nanos now) const {
    std::array<double, HeaderBatch::kMax> past;
    if (exact_ != nullptr) {
      exact_->at(now, {ago, rows.count}, past.data());
    } else {
      coarse_->at(now, {ago, rows.count}, past.data());
    }
    for (size_t k = 0; k < rows.count; ++k) past[k] = -past[k];
    for (size_t k = rows.count; k < rows.rows(); ++k) past[k] = 0;
    rows.charge(past.data(), unknown);
  }

 private:
  // Lowest prices, negated. They reach back as far as `age` does: flows that wait for their turn
  // pay with an old price.
  using Coarse = TimeSeries<2048, 21, 2>;  // bins of 2.1 ms, for the last 4.3 s
  using Exact = TimeSeries<2048, 12, 4>;   // bins of 4 us for the last 8 ms, coarser ones before
  static_assert(Coarse::reach(1) > UINT32_MAX && Exact::reach(3) > UINT32_MAX);

  std::unique_ptr<Coarse> coarse_;
  std::unique_ptr<Exact> exact_;
};

}  // namespace turnpike::fcp
