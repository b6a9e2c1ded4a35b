// SPDX-License-Identifier: BSD-3-Clause
// How a host divides its budget among its flows: the policy that produces FCP's x_i.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "common/units/units.h"

namespace turnpike::sender {

/// One per host. Targets are asked for lazily: a flow asks again when version() has moved since it
/// last did, so that a flow that comes or goes costs the same whether there are two or a million.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// A flow of this weight wants budget from now on, or no longer.
  virtual void joined(double share) = 0;
  virtual void left(double share) = 0;
  /// Budget for a flow of this weight that has joined; the sum over all of them is within the
  /// host's budget.
  [[nodiscard]] virtual Budget target(double share) const = 0;

  /// Moves whenever some flow's target may have changed.
  [[nodiscard]] uint32_t version() const { return version_; }

 protected:
  void changed() { ++version_; }

 private:
  uint32_t version_ = 1;
};

/// A strategy by the name topology files use, for a host of this budget; null if there is none.
std::unique_ptr<Strategy> make_strategy(std::string_view name, Budget budget);
/// All names.
std::span<const std::string_view> strategy_names();

}  // namespace turnpike::sender
