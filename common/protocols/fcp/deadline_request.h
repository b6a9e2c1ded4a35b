// SPDX-License-Identifier: BSD-3-Clause
// A flow's request for a rate at the fixed price of a link's deadline class.
#pragma once

#include <cstdint>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/units/units.h"

namespace turnpike::fcp {

/// The flow asks for its rate at once, by the preload of one packet, and says with its packets'
/// reserve that it accepts no price but the fixed one. A link that has no room for the rate prices
/// the packet as best effort; the flow sees another price and competes by its budget from then on.
/// Packets that it sent before it knew may still be priced by the class; their prices are not those
/// of best effort.
class DeadlineRequest {
 public:
  explicit DeadlineRequest(const ParamValues& params)
      : rate_(static_cast<float>(params[kDeadlineRate] / 8)),
        fixed(static_cast<float>(params[kFixedPrice])) {}

  /// Whether the flow asks, and has not been refused.
  [[nodiscard]] bool wanted() const { return rate_ > 0; }
  /// B/s. While wanted().
  [[nodiscard]] float rate() const { return rate_; }
  /// $/B, fixed. While wanted().
  [[nodiscard]] float price() const { return fixed; }

  /// Call with each price fed back. Returns whether it refuses the request, which it ends.
  bool refused_by(double seen, Nanos now) {
    constexpr double kSame = 1.001;  // binary32 rounds prices
    if (rate_ <= 0 || seen <= fixed * kSame) [[likely]]
      return false;
    rate_ = kRefused;
    refused_us = micros(now);
    return true;
  }
  /// Call with the time at which an acknowledged packet was sent. Whether it was sent for a request
  /// that was refused later.
  bool outdates(Nanos sent) {
    if (rate_ != kRefused) [[likely]]
      return false;
    if (static_cast<int32_t>(micros(sent) - refused_us) < 0) return true;
    rate_ = 0;  // ACKs of the request have ended
    return false;
  }

 private:
  static constexpr float kRefused = -1;

  float rate_;  // kRefused: ACKs of the request may still arrive
  union {
    float fixed;          // $/B
    uint32_t refused_us;  // of kRefused: since when, modulo 2^32
  };
};

}  // namespace turnpike::fcp
