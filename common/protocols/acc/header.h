// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control's congestion header: 8 bytes after the common header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/wire/bytes.h"

namespace turnpike::acc {

inline constexpr uint8_t kProtocolId = 7;
inline constexpr size_t kHeaderSize = 8;
inline constexpr size_t kRoleOffset = 0, kRoundOffset = 2, kMeasureOffset = 4;

/// Once per round trip a pair leaves back to back: the probe (out of band: it overtakes all data at
/// every link) and the next data packet (in band).
enum class Role : uint8_t {
  kData,
  kOutOfBand,
  kInBand,
  kEstimate,  // the ACK of kInBand: the receiver got the whole pair
};

struct Header {
  Role role = Role::kData;
  uint16_t round = 0;  // of the pair
  float measure = 0;   // kOutOfBand: virtual delay so far, s; kEstimate: accumulation, B; else 0
};

/// Decodes a header without validating it; see credible().
inline Header load(const uint8_t* p) {
  return {static_cast<Role>(p[kRoleOffset]), wire::load_be16(p + kRoundOffset),
          wire::load_f32(p + kMeasureOffset)};
}
inline void store(const Header& h, uint8_t* p) {
  wire::store_be16(p + kRoleOffset, static_cast<uint16_t>(static_cast<uint8_t>(h.role) << 8));
  wire::store_be16(p + kRoundOffset, h.round);
  wire::store_f32(p + kMeasureOffset, h.measure);
}

/// Whether a request's fields have values that a sender may write.
inline bool credible(const Header& h) {
  if (h.role == Role::kOutOfBand) return std::isfinite(h.measure) && h.measure >= 0;
  return h.role <= Role::kInBand && h.measure == 0;
}

}  // namespace turnpike::acc
