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
inline constexpr size_t kRttOffset = 0, kFlowOffset = 4, kFeedbackOffset = 8;

/// The form of the paper's appendix A, in which no router divides. The sender's round trip and the
/// packet's share of its flow are not changed on the path. The change of the flow's rate starts as
/// the sender's request, is lowered by every link, and then echoed; times the round trip it is
/// equation 3's addition to the window.
struct Header {
  uint32_t rtt_ns = 0;  // 0: not known yet
  float flow = 0;       // s; price s rtt/cwnd, with the price that the flow's user pays
  float feedback = std::numeric_limits<float>::max();  // B/s
};

/// Upper bound of a packet's `flow`: a whole window, the longest round trip of a header, the
/// highest price. More would dominate the sums.
inline constexpr float kMaxFlow = 4.3e6F;  // s

/// Decodes a header without validating it; see credible().
inline Header load(const uint8_t* p) {
  return {wire::load_be32(p + kRttOffset), wire::load_f32(p + kFlowOffset),
          wire::load_f32(p + kFeedbackOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  wire::store_be32(p + kRttOffset, h.rtt_ns);
  wire::store_f32(p + kFlowOffset, h.flow);
  wire::store_f32(p + kFeedbackOffset, h.feedback);
}

/// Whether the fields are valid. A header without a round trip counts only by its packet's size.
inline bool credible(const Header& h) {
  return std::isfinite(h.feedback) && h.flow >= 0 && h.flow <= kMaxFlow &&
         (h.rtt_ns == 0 || h.flow > 0);
}

}  // namespace turnpike::xcp
