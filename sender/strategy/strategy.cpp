// SPDX-License-Identifier: BSD-3-Clause
#include "sender/strategy/strategy.h"

#include "sender/strategy/background.h"
#include "sender/strategy/each_flow.h"
#include "sender/strategy/equal_budget.h"
#include "sender/strategy/equal_throughput.h"
#include "sender/strategy/max_min.h"
#include "sender/strategy/max_throughput.h"
#include "sender/strategy/stability.h"

namespace turnpike::sender {

void Strategy::join(Member& member) {
  if (member.terms->background) {
    background_shares_ += member.terms->share;
    ++background_flows_;
  } else {
    joined(member);
  }
  changed();
}

void Strategy::leave(Member& member) {
  if (member.terms->background) {
    // Exactly zero without flows, in spite of rounding errors.
    background_shares_ =
        --background_flows_ == 0 ? 0 : std::max(background_shares_ - member.terms->share, 0.0);
  } else {
    left(member);
  }
  changed();
}

// The list of strategies. common/config/describe.h lists the names that topology files may use.
std::unique_ptr<Strategy> make_strategy(std::string_view name, Budget budget) {
  if (name == "equal-budget") return std::make_unique<EqualBudget>(budget);
  if (name == "equal-throughput") return std::make_unique<EqualThroughput>(budget);
  if (name == "max-throughput") return std::make_unique<MaxThroughput>(budget);
  if (name == "max-min") return std::make_unique<MaxMin>(budget);
  if (name == "background") return std::make_unique<Background>(budget);
  if (name == "stability") return std::make_unique<Stability>(budget);
  if (name == "each-flow") return std::make_unique<EachFlow>(budget);
  return nullptr;
}

}  // namespace turnpike::sender
