// SPDX-License-Identifier: BSD-3-Clause
// Addresses and prefixes.
#pragma once

#include <array>
#include <cstdint>

namespace turnpike::config {

using Ipv4 = uint32_t;                 // host byte order
using Ipv6 = std::array<uint8_t, 16>;  // network order
using Mac = std::array<uint8_t, 6>;

struct Ipv4Prefix {
  Ipv4 address = 0;
  uint8_t length = 32;
};
struct Ipv6Prefix {
  Ipv6 address{};
  uint8_t length = 128;
};

}  // namespace turnpike::config
