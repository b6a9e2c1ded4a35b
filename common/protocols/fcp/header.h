// SPDX-License-Identifier: BSD-3-Clause
// FCP's congestion header: 32 bytes after the common header (docs/wire-format.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/protocols/link_law.h"
#include "common/units/units.h"
#include "common/wire/bytes.h"

namespace turnpike::fcp {

inline constexpr uint8_t kProtocolId = 1;
inline constexpr size_t kHeaderSize = 32;
inline constexpr size_t kRttOffset = 0, kPriceOffset = 4, kReserveOffset = 8, kAgeOffset = 12,
                        kPreloadOffset = 16, kBalanceOffset = 20, kExchangeOffset = 24,
                        kChargedOffset = 26, kSlotOffset = 28;

/// Fields of a data packet; its ACK returns them unchanged except for the price.
struct Header {
  uint32_t rtt_ns = 0;  // the flow's round trip, 0: not known yet (SYN)
  float price = 0;      // $/B, 0 when sent; every link adds its price
  // $/B: price above which the flow's demand falls (its budget by the rate that it wants); 0: it
  // takes any rate. SYN: bound of the first round's rate, B/s, 0: none; links lower it.
  float reserve = 0;
  uint32_t age_ns = 0;  // since the packet was sent whose ACK brought `balance`, 0: unknown.
                        // SYN: wait before the first round; links raise it
  float preload = 0;    // promised change of the flow's rate, relative to this packet's
  float balance = 0;    // $/B that the sender pays for this packet: the last price fed back.
                        // SYN: $/s that the flow may spend, 0: unknown
  float exchange = 1;   // value of the sender's unit of money in this domain; bfloat16 when sent
  float charged = 0;    // $/B: sum of the links' prices at the time that `balance` pays for, added
                        // by links that audit; bfloat16 when sent
  float slot = 0;       // s until the flow's next packet, 0: unknown.
                        // SYN: the first round is sent within 1/slot of a round trip
  bool first = false;   // of the flow's first round, which its SYN announced: slot's sign
};

/// bfloat16: the upper half of a binary32, 8 bits of precision. Rounds to the nearest, ties to
/// even.
inline uint16_t to_bfloat16(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float from_bfloat16(uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); }

/// `charged` alone.
inline float load_charged(const uint8_t* p) {
  return from_bfloat16(wire::load_be16(p + kChargedOffset));
}
/// Rounds down, so that no sender owes a rounding error.
inline void store_charged(uint8_t* p, double charged) {
  const auto most = static_cast<float>(std::min<double>(charged, 1e12));
  wire::store_be16(p + kChargedOffset, static_cast<uint16_t>(std::bit_cast<uint32_t>(most) >> 16));
}

/// Decodes a header without validating it; see credible().
inline Header load(const uint8_t* p) {
  const float slot = wire::load_f32(p + kSlotOffset);
  return {wire::load_be32(p + kRttOffset),
          wire::load_f32(p + kPriceOffset),
          wire::load_f32(p + kReserveOffset),
          wire::load_be32(p + kAgeOffset),
          wire::load_f32(p + kPreloadOffset),
          wire::load_f32(p + kBalanceOffset),
          from_bfloat16(wire::load_be16(p + kExchangeOffset)),
          from_bfloat16(wire::load_be16(p + kChargedOffset)),
          std::fabs(slot),
          std::signbit(slot)};
}

inline void store(const Header& h, uint8_t* p) {
  wire::store_be32(p + kRttOffset, h.rtt_ns);
  wire::store_f32(p + kPriceOffset, h.price);
  wire::store_f32(p + kReserveOffset, h.reserve);
  wire::store_be32(p + kAgeOffset, h.age_ns);
  wire::store_f32(p + kPreloadOffset, h.preload);
  wire::store_f32(p + kBalanceOffset, h.balance);
  wire::store_be16(p + kExchangeOffset, to_bfloat16(h.exchange));
  wire::store_be16(p + kChargedOffset, to_bfloat16(h.charged));
  wire::store_f32(p + kSlotOffset, h.first ? -h.slot : h.slot);
}

// Bounds of valid values. Comparisons with NaN are false, so NaN is always refused.
inline constexpr float kMaxPrice = 1e12F;      // $/B; the paper's prices lie between 1e-18 and 1
inline constexpr float kMaxPreload = 1e20F;    // MIN to 1 $/s in ten packets takes 1e13
inline constexpr float kMinNormal = 1.2e-38F;  // denormals are slow; no sender needs them
inline constexpr uint32_t kMinRttNs = 1000;    // a commitment is divided by the round trip

/// Round trip for the header, ns in 32 bits; clips longer ones to 4.29 s.
inline uint32_t rtt_field(Nanos rtt) {
  return static_cast<uint32_t>(std::clamp<int64_t>(rtt.count(), kMinRttNs, UINT32_MAX));
}

/// A time in us modulo 2^32, of which flows keep differences in 4 B.
inline uint32_t micros(Nanos t) { return static_cast<uint32_t>(t.count() / 1000); }

inline bool credible_amount(float v) { return v == 0 || (v >= kMinNormal && v <= kMaxPrice); }

/// Whether every field is within the range that compliant senders and links write.
inline bool credible(const Header& h) {
  const float size = h.preload < 0 ? -h.preload : h.preload;
  return (h.rtt_ns == 0 || h.rtt_ns >= kMinRttNs) && credible_amount(h.price) &&
         credible_amount(h.balance) && credible_amount(h.reserve) && credible_amount(h.slot) &&
         credible_amount(h.charged) && (size == 0 || (size >= kMinNormal && size <= kMaxPreload)) &&
         h.exchange >= kMinNormal && h.exchange <= kMaxPrice;
}

/// MIN as binary32, which rounds it up.
inline constexpr double kFree = kMinPrice.count() * (1 + 1e-6);

/// Adds a link's price to its path's. A link at MIN counts as free, P (+) MIN = P, so that prices
/// of idle links do not add up; a path of idle links costs MIN.
inline double add_prices(double path, double link) {
  if (path <= kFree) return link > kFree ? link : kMinPrice.count();
  return link <= kFree ? path : path + link;
}

}  // namespace turnpike::fcp
