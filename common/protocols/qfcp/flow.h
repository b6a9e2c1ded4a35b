// SPDX-License-Identifier: BSD-3-Clause
// QFCP sender: a window of rate x RTT, paced at the rate.
#pragma once

#include <algorithm>

#include "common/protocols/explicit_rate/flow.h"

namespace turnpike::qfcp {

/// Equation 1. The window bounds the data in flight where a queue makes the RTT longer than its
/// average; the pace bounds the rate.
class Flow final : public explicit_rate::Flow {
 private:
  [[nodiscard]] Allowance allow(const FlowState& s, bool credible) const override {
    Allowance a = explicit_rate::Flow::allow(s, credible);
    a.window = std::max<double>(flow_share() * to_seconds(s.smoothed_rtt), s.packet_size);
    return a;
  }
};

}  // namespace turnpike::qfcp
