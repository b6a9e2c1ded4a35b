// SPDX-License-Identifier: BSD-3-Clause
// QCP's congestion header: 12 bytes after the common header, or 8 without the inter-byte interval.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/protocols/explicit_rate/header.h"
#include "common/wire/bytes.h"

namespace turnpike::qcp {

inline constexpr uint8_t kProtocolId = 5, kShortProtocolId = 8;
inline constexpr size_t kHeaderSize = 12, kShortHeaderSize = explicit_rate::kHeaderSize;
inline constexpr size_t kIntervalOffset = kShortHeaderSize;

/// The short form is the part before the interval: the header of RCP and QFCP. The paper's reverse
/// rate is not needed: an answer returns the whole header.
struct Header {
  explicit_rate::Header common{};  // its rtt is 0 also in a flow's first round (eq 12)
  float interval = 0;              // s/B: sigma = w/R_j, a flow's weight by its rate
};

/// Decodes a header without validating it; see credible().
inline Header load(const uint8_t* p) {
  return {explicit_rate::load(p), wire::load_f32(p + kIntervalOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  explicit_rate::store(h.common, p);
  wire::store_f32(p + kIntervalOffset, h.interval);
}

/// Whether the fields are within their valid ranges.
inline bool credible(const Header& h) {
  return explicit_rate::credible(h.common) && std::isfinite(h.interval) && h.interval > 0;
}

}  // namespace turnpike::qcp
