// SPDX-License-Identifier: BSD-3-Clause
// Outcomes of flows of all parts of a world, in an order that does not depend on the parts.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "sender/observed.h"

namespace turnpike::lab {

/// Keeps outcomes while parts play, and reports them afterwards.
class KeptOutcomes {
 public:
  explicit KeptOutcomes(sender::OutcomeSink& to) : to_(to) {}

  /// Outcomes are kept from now on.
  void keep() { kept_ = true; }
  [[nodiscard]] bool kept() const { return kept_; }
  /// Reports a kept outcome, or one that comes while none are kept.
  void report(const sender::FlowOutcome& outcome) { to_.flow_ended(outcome); }
  /// Reports the kept outcomes of `parts`, objects with a member `outcomes`, in order of time.
  template <class Parts>
  void report_kept(Parts& parts) {
    kept_ = false;
    for (const auto& part : parts) part->outcomes.move_to(all_);
    std::ranges::stable_sort(
        all_, {}, [](const sender::FlowOutcome& o) { return std::tuple(o.end, o.host, o.id); });
    for (const sender::FlowOutcome& o : all_) report(o);
    all_.clear();
  }

 private:
  sender::OutcomeSink& to_;
  bool kept_ = false;
  std::vector<sender::FlowOutcome> all_;
};

/// Those of one part.
class PartOutcomes final : public sender::OutcomeSink {
 public:
  explicit PartOutcomes(KeptOutcomes& all) : all_(all) {}
  void flow_ended(const sender::FlowOutcome& outcome) override {
    if (all_.kept())
      kept_.push_back(outcome);
    else
      all_.report(outcome);
  }
  void move_to(std::vector<sender::FlowOutcome>& to) {
    to.insert(to.end(), kept_.begin(), kept_.end());
    kept_.clear();
  }

 private:
  KeptOutcomes& all_;
  std::vector<sender::FlowOutcome> kept_;
};

}  // namespace turnpike::lab
