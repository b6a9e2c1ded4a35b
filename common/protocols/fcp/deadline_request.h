// SPDX-License-Identifier: BSD-3-Clause
// A flow's request for a rate at the fixed price of a link's deadline class.
#pragma once

#include "common/protocols/fcp/params.h"

namespace turnpike::fcp {

/// The flow asks for its rate at once, by the preload of one packet, and says with its packets'
/// reserve that it accepts no price but the fixed one. A link that has no room for the rate prices
/// the packet as best effort; the flow sees another price and competes by its budget from then on.
struct DeadlineRequest {
  float rate = 0;   // B/s; 0: none, or refused
  float price = 0;  // $/B, fixed

  explicit DeadlineRequest(const ParamValues& params)
      : rate(static_cast<float>(params[kDeadlineRate] / 8)),
        price(static_cast<float>(params[kFixedPrice])) {}

  [[nodiscard]] bool wanted() const { return rate > 0; }
  /// Call with each price fed back. Returns whether it refuses the request, which it ends.
  bool refused_at(double seen) {
    constexpr double kSame = 1.001;  // binary32 rounds prices
    if (rate == 0 || seen <= price * kSame) [[likely]]
      return false;
    rate = 0;
    return true;
  }
};

}  // namespace turnpike::fcp
