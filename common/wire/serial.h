// SPDX-License-Identifier: BSD-3-Clause
// 32-bit serial numbers (RFC 1982) on the wire, 64-bit counts inside.
#pragma once

#include <cstdint>

namespace turnpike::wire {

/// The 64-bit count nearest to `reference` whose low half is `serial`. A serial that lies before
/// zero comes out beyond 2^63, so that it compares as larger than anything real.
constexpr uint64_t extend_serial(uint32_t serial, uint64_t reference) {
  const auto distance = static_cast<int32_t>(serial - static_cast<uint32_t>(reference));
  return reference + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

/// Whether `a` comes before `b`, both less than 2^31 apart.
constexpr bool serial_before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

}  // namespace turnpike::wire
