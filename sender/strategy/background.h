// SPDX-License-Identifier: BSD-3-Clause
// A host of background flows alone (section 6 of the FCP paper): together they spend W/10000.
#pragma once

#include "sender/strategy/equal_budget.h"

namespace turnpike::sender {

/// An unused link's price sinks towards MIN, where little buys all of it; as soon as others can
/// fill the link, little buys next to nothing.
class Background final : public EqualBudget {
 public:
  using EqualBudget::EqualBudget;

 protected:
  [[nodiscard]] Budget part(const Member& member) const override {
    return EqualBudget::part(member) * kBackground;
  }
};

}  // namespace turnpike::sender
