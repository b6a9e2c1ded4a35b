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

/// In the form of the paper's appendix A, in which no router divides: the sender's round trip, and
/// how much of its flow the packet is, which nobody changes on the way; and by how much the flow's
/// rate is to change, as much as the sender would like, lowered by every link, then echoed. Times
/// the round trip it is what equation 3 adds to the window.
struct Header {
  uint32_t rtt_ns = 0;  // 0: not known yet
  float flow = 0;       // s; price s rtt/cwnd, with the price that the flow's user pays
  float feedback = std::numeric_limits<float>::max();  // B/s
};

/// Nobody's packet is more of a flow: all of its window, the longest round trip that a header can
/// name, the highest price. What is more would drown the others in the sums.
inline constexpr float kMaxFlow = 4.3e6F;  // s

inline Header load(const uint8_t* p) {
  return {wire::load_be32(p + kRttOffset), wire::load_f32(p + kFlowOffset),
          wire::load_f32(p + kFeedbackOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  wire::store_be32(p + kRttOffset, h.rtt_ns);
  wire::store_f32(p + kFlowOffset, h.flow);
  wire::store_f32(p + kFeedbackOffset, h.feedback);
}

/// Whether a law may believe it; one without a round trip says nothing but its size.
inline bool credible(const Header& h) {
  return std::isfinite(h.feedback) && h.flow >= 0 && h.flow <= kMaxFlow &&
         (h.rtt_ns == 0 || h.flow > 0);
}

}  // namespace turnpike::xcp
