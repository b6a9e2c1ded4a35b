// SPDX-License-Identifier: BSD-3-Clause
// Addresses of a burst's packets, in columns for bulk lookups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/wire/bytes.h"
#include "router/datapath/burst.h"
#include "router/datapath/ingress/ip.h"

namespace turnpike::router {

/// Collects one address per packet, IPv4 and IPv6 apart, and looks up each kind in one call.
class AddressBatch {
 public:
  /// Adds packet i's address; `address`: in the packet. At most kBurst of each kind.
  void add_ipv4(unsigned i, const uint8_t* address) {
    ipv4_[n4_] = wire::load_be32(address);
    at4_[n4_++] = static_cast<uint8_t>(i);
  }
  void add_ipv6(unsigned i, const uint8_t* address) {
    ipv6_[n6_] = load_ipv6(address);
    at6_[n6_++] = static_cast<uint8_t>(i);
  }

  /// Calls f(i, found) for every packet added. `Value` and `table.find(addresses, values)`: as in
  /// Tables.
  template <class Value, class Table, class F>
  void find(const Table& table, F&& f) const {
    Value found[kBurst];
    if (n4_ > 0) {
      table.find(std::span<const uint32_t>(ipv4_, n4_), found);
      for (size_t k = 0; k < n4_; ++k) f(at4_[k], found[k]);
    }
    if (n6_ > 0) {
      table.find(std::span<const config::Ipv6>(ipv6_, n6_), found);
      for (size_t k = 0; k < n6_; ++k) f(at6_[k], found[k]);
    }
  }

 private:
  // Only the first n4_ and n6_ elements are initialised.
  uint32_t ipv4_[kBurst];
  config::Ipv6 ipv6_[kBurst];
  uint8_t at4_[kBurst], at6_[kBurst];
  size_t n4_ = 0, n6_ = 0;
};

}  // namespace turnpike::router
