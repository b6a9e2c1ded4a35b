// SPDX-License-Identifier: BSD-3-Clause
// The congestion header of RCP and QFCP: 8 bytes after the common header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/wire/bytes.h"

namespace turnpike::explicit_rate {

inline constexpr size_t kHeaderSize = 8;
inline constexpr size_t kRttOffset = 0, kRateOffset = 4;

/// A request of a packet; its ACK returns the smallest rate that a link on the path allows.
struct Header {
  uint32_t rtt_ns = 0;                             // the flow's round trip, 0: not known yet (SYN)
  float rate = std::numeric_limits<float>::max();  // B/s
};

/// Decodes a header without validating it; see credible().
inline Header load(const uint8_t* p) {
  return {wire::load_be32(p + kRttOffset), wire::load_f32(p + kRateOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  wire::store_be32(p + kRttOffset, h.rtt_ns);
  wire::store_f32(p + kRateOffset, h.rate);
}

/// Whether the fields are valid: a finite rate > 0.
inline bool credible(const Header& h) { return std::isfinite(h.rate) && h.rate > 0; }

}  // namespace turnpike::explicit_rate
