// SPDX-License-Identifier: BSD-3-Clause
// The budget that a host has promised the network, and its headroom.
#pragma once

#include "common/units/units.h"
#include "sender/connection/flow.h"
#include "sender/observed.h"

namespace turnpike::sender {

/// The sum over a host's flows of w_i + pend_i stays within its budget, whatever the targets say:
/// every law gets the headroom and promises no more (section 5 of the FCP paper, equation 1).
/// Where the budget is not shared, the same holds of each flow alone.
class Ledger {
 public:
  /// `groups`: by entry of the topology's traffic, outlives the ledger.
  Ledger(Budget budget, bool shared, GroupTotals* groups)
      : budget_(budget.count()), shared_(shared), groups_(groups) {}

  /// From now on. Flows give back what is too much; until they have, the headroom is negative.
  void set_budget(Budget budget) { budget_ = budget.count(); }

  /// Records the decision of a flow's law after an event.
  void record(Flow& flow, const Allowance& allowance) {
    record(flow, allowance.committed);
    flow.allowance = allowance;
  }
  /// Records what the flow has committed after its law wrote a packet, $/s.
  void record(Flow& flow, double committed) {
    const double change = committed - flow.allowance.committed;
    committed_ += change;
    flow.allowance.committed = committed;
    auto& group = groups_[flow.source].committed;
    group.store(group.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  void joined(const Flow& flow) {
    ++flows_;
    ++groups_[flow.source].open_flows;
  }
  /// Removes the flow's promise.
  void left(Flow& flow) {
    // Without flows the sum is exactly 0: rounding errors of a million flows must not add up.
    committed_ = --flows_ == 0 ? 0 : committed_ - flow.allowance.committed;
    GroupTotals& group = groups_[flow.source];
    const double others =
        group.committed.load(std::memory_order_relaxed) - flow.allowance.committed;
    group.committed.store(--group.open_flows == 0 ? 0 : others, std::memory_order_relaxed);
    flow.allowance.committed = 0;
  }

  /// $/s of the host, or of each of its flows where the budget is not shared.
  [[nodiscard]] double budget() const { return budget_; }
  [[nodiscard]] double committed() const { return committed_; }
  [[nodiscard]] bool shared() const { return shared_; }
  /// $/s that this flow may still promise.
  [[nodiscard]] double headroom(const Flow& flow) const {
    return budget_ - (shared_ ? committed_ : flow.allowance.committed);
  }

 private:
  double budget_;
  double committed_ = 0;
  uint64_t flows_ = 0;
  bool shared_;
  GroupTotals* groups_;
};

}  // namespace turnpike::sender
