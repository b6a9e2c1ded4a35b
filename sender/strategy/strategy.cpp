// SPDX-License-Identifier: BSD-3-Clause
// The one list of strategies.
#include "sender/strategy/strategy.h"

#include <array>

#include "sender/strategy/equal_budget.h"

namespace turnpike::sender {
namespace {

constexpr std::array<std::string_view, 1> kNames{"equal-budget"};

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name, Budget budget) {
  if (name == kNames[0]) return std::make_unique<EqualBudget>(budget);
  return nullptr;
}

std::span<const std::string_view> strategy_names() { return kNames; }

}  // namespace turnpike::sender
