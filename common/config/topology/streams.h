// SPDX-License-Identifier: BSD-3-Clause
// Packets without congestion control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/units/units.h"

namespace turnpike::config {

struct PacketRate {
  double per_second = 0;
};
struct L1Rate {  // bit/s of frames with preamble and gap
  BitRate rate;
};
struct L2Rate {  // bit/s of frames with FCS
  BitRate rate;
};
/// Share of the sending host's link, whose rate counts IP datagrams and its overhead.
struct LineShare {
  double share = 0;
};
using StreamRate = std::variant<PacketRate, L1Rate, L2Rate, LineShare>;

inline constexpr uint16_t kStreamPort = 9;            // UDP: discard (RFC 863)
inline constexpr uint32_t kFrameBeyondDatagram = 18;  // B: Ethernet header and FCS
inline constexpr uint32_t kFrameOnLine = 20;          // B: preamble and gap

/// Packets at a constant rate without congestion control, counted where they arrive.
struct Stream {
  std::string name;
  size_t from = 0, to = 0;  // hosts
  unsigned ip_version = 4;
  Nanos start{0};
  Nanos stop = kNever;
  StreamRate rate;
  std::vector<Bytes> frames = {};  // sizes with FCS, sent in this order, repeated
  unsigned dscp = 0;
  unsigned flows = 1;
  Nanos slack{0};  // largest delay of a packet by the sender
};

}  // namespace turnpike::config
