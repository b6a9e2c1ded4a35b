// SPDX-License-Identifier: BSD-3-Clause
// Strategy for a host with background flows only (FCP, section 6): together they spend W/10000.
#pragma once

#include "sender/strategy/equal_budget.h"

namespace turnpike::sender {

/// The price of an unused link falls towards MIN, where such a small budget buys all of the link.
/// Once other flows can fill the link, it buys almost nothing.
class Background final : public EqualBudget {
 public:
  using EqualBudget::EqualBudget;

 protected:
  [[nodiscard]] Budget part(const Member& member) const override {
    return EqualBudget::part(member) * kBackground;
  }
};

}  // namespace turnpike::sender
