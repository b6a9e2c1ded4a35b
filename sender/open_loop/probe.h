// SPDX-License-Identifier: BSD-3-Clause
// Payload of an open-loop stream's packets: identifies, numbers and time-stamps each packet.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "common/wire/bytes.h"

namespace turnpike::sender {

/// At the beginning of the UDP payload, in network byte order: mark (2 B), stream (2 B), sequence
/// (6 B), send time (8 B). A minimum Ethernet frame with IPv4 has exactly that room.
struct Probe {
  static constexpr size_t kSize = 18;
  static constexpr uint16_t kMark = 0x7450;

  uint16_t stream = 0;    // index into Topology::streams
  uint64_t sequence = 0;  // from 0, without gaps
  Nanos sent{0};          // by the sending program's clock
};

/// Writes Probe::kSize B; returns the unfolded sum of their 16-bit words.
inline uint64_t store(const Probe& p, uint8_t* out) {
  const auto time = static_cast<uint64_t>(p.sent.count());
  wire::store_be16(out, Probe::kMark);
  wire::store_be16(out + 2, p.stream);
  wire::store_be16(out + 4, static_cast<uint16_t>(p.sequence >> 32));
  wire::store_be32(out + 6, static_cast<uint32_t>(p.sequence));
  wire::store_be64(out + 10, time);
  return uint64_t{Probe::kMark} + p.stream + static_cast<uint16_t>(p.sequence >> 32) +
         static_cast<uint32_t>(p.sequence) + (time >> 32) + static_cast<uint32_t>(time);
}

/// Reads Probe::kSize B; false if they are no probe.
inline bool load(const uint8_t* in, Probe& p) {
  if (wire::load_be16(in) != Probe::kMark) return false;
  p.stream = wire::load_be16(in + 2);
  p.sequence = uint64_t{wire::load_be16(in + 4)} << 32 | wire::load_be32(in + 6);
  p.sent = Nanos(static_cast<int64_t>(wire::load_be64(in + 10)));
  return true;
}

}  // namespace turnpike::sender
