// SPDX-License-Identifier: BSD-3-Clause
// What a host has promised the network, and what its budget still allows.
#pragma once

#include <algorithm>

#include "common/units/units.h"
#include "sender/flow.h"

namespace turnpike::sender {

/// The sum over a host's flows of w_i + pend_i stays within its budget, whatever the targets say:
/// every law is told the headroom and promises no more (section 5 of the FCP paper, equation 1).
class Ledger {
 public:
  explicit Ledger(Budget budget) : budget_(budget.count()) {}

  /// Takes over what the flow's law has promised by now; after every call that may change it.
  void settle(Flow& flow) {
    const double now = flow.law->committed();
    committed_ += now - flow.committed;
    flow.committed = now;
  }
  void joined() { ++flows_; }
  /// The flow is gone and so is what it promised.
  void left(Flow& flow) {
    // With nobody left there is nothing promised: rounding must not add up over a million flows.
    committed_ = --flows_ == 0 ? 0 : committed_ - flow.committed;
    flow.committed = 0;
  }

  [[nodiscard]] double budget() const { return budget_; }
  [[nodiscard]] double committed() const { return committed_; }
  /// $/s that may still be promised.
  [[nodiscard]] double headroom() const { return budget_ - committed_; }

 private:
  double budget_;
  double committed_ = 0;
  uint64_t flows_ = 0;
};

}  // namespace turnpike::sender
