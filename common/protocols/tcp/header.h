// SPDX-License-Identifier: BSD-3-Clause
// TCP's congestion header: 4 bytes after the common header, of which one bit is the feedback.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire/bytes.h"

namespace turnpike::tcp {

inline constexpr uint8_t kProtocolId = 6;
inline constexpr size_t kHeaderSize = 4;

/// IP's ECN bits (RFC 3168) and an edge router's code point of an ordinary packet. They are here so
/// that an answer echoes them: ECE is the echoed kMarked.
enum Flag : uint32_t {
  kCapable = 1 << 0,    // ECT: links may mark the packet in place of dropping it
  kMarked = 1 << 1,     // CE: set by links
  kInProfile = 1 << 2,  // within what the flow was promised, by its edge's meter (RIO's "in")
};

inline uint32_t load(const uint8_t* header) { return wire::load_be32(header); }
inline void store(uint32_t flags, uint8_t* header) { wire::store_be32(header, flags); }

}  // namespace turnpike::tcp
