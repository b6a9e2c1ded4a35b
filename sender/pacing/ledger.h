// SPDX-License-Identifier: BSD-3-Clause
// What a host has promised the network, and what its budget still allows.
#pragma once

#include "common/units/units.h"
#include "sender/connection/flow.h"
#include "sender/observed.h"

namespace turnpike::sender {

/// The sum over a host's flows of w_i + pend_i stays within its budget, whatever the targets say:
/// every law is told the headroom and promises no more (section 5 of the FCP paper, equation 1).
/// Where the budget is not shared, the same holds of each flow alone.
class Ledger {
 public:
  /// `groups`: by entry of the topology's traffic, outlives the ledger.
  Ledger(Budget budget, bool shared, GroupTotals* groups)
      : budget_(budget.count()), shared_(shared), groups_(groups) {}

  /// From now on. Flows give back what is too much; until they have, the headroom is negative.
  void set_budget(Budget budget) { budget_ = budget.count(); }

  /// Takes over what the flow's law has promised by now; after every call that may change it.
  void settle(Flow& flow) {
    const double now = flow.law().committed();
    const double change = now - flow.committed;
    committed_ += change;
    flow.committed = now;
    auto& group = groups_[flow.source].committed;
    group.store(group.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  void joined(const Flow& flow) {
    ++flows_;
    ++groups_[flow.source].open_flows;
  }
  /// The flow is gone and so is what it promised.
  void left(Flow& flow) {
    // With nobody left there is nothing promised: rounding must not add up over a million flows.
    committed_ = --flows_ == 0 ? 0 : committed_ - flow.committed;
    GroupTotals& group = groups_[flow.source];
    const double others = group.committed.load(std::memory_order_relaxed) - flow.committed;
    group.committed.store(--group.open_flows == 0 ? 0 : others, std::memory_order_relaxed);
    flow.committed = 0;
  }

  /// $/s of the host, or of each of its flows where the budget is not shared.
  [[nodiscard]] double budget() const { return budget_; }
  [[nodiscard]] double committed() const { return committed_; }
  /// $/s that this flow may still promise.
  [[nodiscard]] double headroom(const Flow& flow) const {
    return budget_ - (shared_ ? committed_ : flow.committed);
  }

 private:
  double budget_;
  double committed_ = 0;
  uint64_t flows_ = 0;
  bool shared_;
  GroupTotals* groups_;
};

}  // namespace turnpike::sender
