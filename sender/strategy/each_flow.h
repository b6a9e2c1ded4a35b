// SPDX-License-Identifier: BSD-3-Clause
// Strategy that gives each flow the host's whole budget, so that each flow acts as a host of its
// own.
#pragma once

#include "sender/strategy/strategy.h"

namespace turnpike::sender {

class EachFlow final : public Strategy {
 public:
  explicit EachFlow(Budget budget) : Strategy(budget, Watching::kNo) {}
  [[nodiscard]] bool shared() const override { return false; }

 protected:
  void joined(Member&) override {}
  void left(Member&) override {}
  [[nodiscard]] Budget part(const Member&) const override { return Budget(whole_budget()); }
};

}  // namespace turnpike::sender
