// SPDX-License-Identifier: BSD-3-Clause
// For a World with real laws: data packets meet a link at the price that a test sets.
#pragma once

#include "common/protocols/fcp/header.h"
#include "tests/support/sender_world.h"

namespace turnpike::sender::testing {

/// A channel's tap that writes `price_at` of the time of sending, in $/B.
inline auto price_tap(std::function<double(Nanos)> price_at) {
  return [price_at = std::move(price_at)](size_t from, std::vector<uint8_t>& frame, Nanos now) {
    if (from != 0) return true;
    wire::store_be16(frame.data() + 40, 0);  // no UDP checksum
    wire::store_f32(frame.data() + 42 + wire::kHeaderSize + fcp::kPriceOffset,
                    static_cast<float>(price_at(now)));
    return true;
  };
}

}  // namespace turnpike::sender::testing
