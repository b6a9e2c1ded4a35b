// SPDX-License-Identifier: BSD-3-Clause
// Every flow a customer of its own with the host's whole budget, as experiments count senders.
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
