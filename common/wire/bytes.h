// SPDX-License-Identifier: BSD-3-Clause
// Numbers in network byte order at any address.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace turnpike::wire {

static_assert(std::endian::native == std::endian::little, "the byte swaps below assume it");

/// Between network and host byte order.
inline uint32_t swap_be32(uint32_t v) { return __builtin_bswap32(v); }

// memcpy instead of a cast: packets may be unaligned, and compilers make one instruction of it.

inline uint16_t load_be16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline uint32_t load_be32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline uint64_t load_be64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

inline void store_be16(uint8_t* p, uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_be32(uint8_t* p, uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_be64(uint8_t* p, uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

/// IEEE 754 binary32, big endian; any bit pattern round-trips, including NaNs.
inline float load_f32(const uint8_t* p) { return std::bit_cast<float>(load_be32(p)); }
inline void store_f32(uint8_t* p, float v) { store_be32(p, std::bit_cast<uint32_t>(v)); }

}  // namespace turnpike::wire
