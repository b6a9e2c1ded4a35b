// SPDX-License-Identifier: BSD-3-Clause
// Money that a packet's congestion header pays, owes and promises, for routers that enforce
// budgets.
#pragma once

#include <cstdint>

namespace turnpike {

/// Amounts as the header states them, not yet validated by a law: not negative, never NaN, possibly
/// infinite. Money is the sender's.
struct Charge {
  float paid = 0;       // $ for this packet
  float charged = 0;    // $ that the links so far have charged for it at the time of its payment;
                        // 0: none has
  float committed = 0;  // $ for the traffic that it announces for one round trip later
  float expected = 0;   // $ that the sender expects to pay for that traffic; negative: it returns
                        // budget that earlier packets announced
  float slot = 0;       // s until the flow's next packet, 0: unknown
  bool first = false;   // of the round that the flow's SYN announced
  // SYN only.
  float first_bytes = 0;  // B announced for the first round
  float budget = 0;       // $/s that the flow may spend, 0: unknown
  float rtt = 0;          // s, 0: unknown
};

/// `header`: congestion header of the protocol; `size`: B on the link; `opens`: a SYN.
using ChargeOf = Charge (*)(const uint8_t* header, uint32_t size, bool opens);

}  // namespace turnpike
