// SPDX-License-Identifier: BSD-3-Clause
// The charge of an FCP packet.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/protocols/charge.h"
#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {

/// A data packet pays its balance for each of its bytes. Its promise is a rate N and a budget B for
/// the packet's slot: N x slot = size x (1 + preload), and B is N times the reserve price, or N
/// times the price paid if that is higher (promise_batch.cpp). The slot cancels out:
///
///     B x slot = max(reserve, balance) x size x (1 + preload)
///
/// Without a reserve price (preset `paper`) this is the commitment of equation 4. Links clip
/// promises of more than `growth` times the packet, which no honest sender exceeds; this charge is
/// not clipped.
inline Charge charge_of(const uint8_t* header, uint32_t size, bool opens) {
  const auto amount = [](float v) { return v > 0 ? v : 0.0F; };  // NaN: 0
  const auto finite = [](float v) { return std::fabs(v) < 1e30F ? v : 0.0F; };
  const auto bytes = static_cast<float>(size);
  const float balance = amount(wire::load_f32(header + kBalanceOffset));
  const float preload = wire::load_f32(header + kPreloadOffset);
  if (opens) return {.first_bytes = amount(preload) * bytes, .budget = balance};
  const float reserve = amount(wire::load_f32(header + kReserveOffset));
  const float slot = wire::load_f32(header + kSlotOffset);
  const float charged = amount(static_cast<float>(load_charged(header)));
  return {.paid = amount(balance * bytes),
          .charged = amount(charged * bytes),
          .committed = amount(std::max(reserve, balance) * bytes * amount(1 + preload)),
          .expected = finite(balance * bytes * (1 + preload)),
          .slot = std::fabs(slot),
          .first = std::signbit(slot),
          .rtt = static_cast<float>(wire::load_be32(header + kRttOffset)) * 1e-9F};
}

}  // namespace turnpike::fcp
