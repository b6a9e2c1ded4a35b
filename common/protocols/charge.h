// SPDX-License-Identifier: BSD-3-Clause
// Money that a packet's congestion header spends and promises, for routers that enforce budgets.
#pragma once

#include <cstdint>

namespace turnpike {

/// Amounts as the header states them, not yet validated by a law: not negative, never NaN, possibly
/// infinite.
struct Charge {
  float paid = 0;       // $ for this packet
  float committed = 0;  // $ for the traffic that it announces for one round trip later
  // SYN only.
  float first_bytes = 0;  // B announced for the first round
  float budget = 0;       // $/s that the flow may spend, 0: unknown
  float rtt = 0;          // s, 0: unknown
};

/// `header`: congestion header of the protocol; `size`: B on the link; `opens`: a SYN.
using ChargeOf = Charge (*)(const uint8_t* header, uint32_t size, bool opens);

}  // namespace turnpike
