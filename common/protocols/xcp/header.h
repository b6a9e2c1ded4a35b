// SPDX-License-Identifier: BSD-3-Clause
// XCP's congestion header: 12 bytes after the common header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/wire/bytes.h"

namespace turnpike::xcp {

inline constexpr uint8_t kProtocolId = 4;
inline constexpr size_t kHeaderSize = 12;
inline constexpr size_t kRttOffset = 0, kWindowOffset = 4, kFeedbackOffset = 8;

/// The sender's round trip and window, which nobody changes on the way, and what the window is to
/// change by: as much as the sender would like, lowered by every link, then echoed.
struct Header {
  uint32_t rtt_ns = 0;  // 0: not known yet
  float window = 0;     // B, divided by the price that the flow's user pays
  float feedback = std::numeric_limits<float>::max();  // B
};

inline Header load(const uint8_t* p) {
  return {wire::load_be32(p + kRttOffset), wire::load_f32(p + kWindowOffset),
          wire::load_f32(p + kFeedbackOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  wire::store_be32(p + kRttOffset, h.rtt_ns);
  wire::store_f32(p + kWindowOffset, h.window);
  wire::store_f32(p + kFeedbackOffset, h.feedback);
}

/// Whether a law may believe it; one without a round trip says nothing but its size.
inline bool credible(const Header& h) {
  return std::isfinite(h.feedback) && std::isfinite(h.window) && h.window >= 0 &&
         (h.rtt_ns == 0 || h.window > 0);
}

}  // namespace turnpike::xcp
