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
  AddressBatch() = default;
  template <class Ipv4, class Ipv6>
  AddressBatch(const Burst& burst, uint32_t set, Ipv4&& ipv4, Ipv6&& ipv6) {
    take(burst, set, ipv4, ipv6);
  }

  /// Takes the packets of `set` instead of earlier ones. `ipv4(ip)` returns where the address is in
  /// the packet with its IP header at `ip`; `ipv6(i, ip)` the same for packet i, null to leave it
  /// out.
  template <class Ipv4, class Ipv6>
  void take(const Burst& burst, uint32_t set, Ipv4&& ipv4, Ipv6&& ipv6) {
    size_t n4 = 0, n6 = 0;  // local, since stores to the arrays may alias members
    for_each_dense(set, [&](unsigned i) {
      const PacketInfo& p = burst.info[i];
      const uint8_t* ip = frame_of(burst.mbufs[i]) + p.l3;
      if (!p.has(kIpv6)) {
        ipv4_[n4] = wire::load_be32(ipv4(ip));
        at4_[n4++] = static_cast<uint8_t>(i);
      } else if (const uint8_t* address = ipv6(i, ip); address != nullptr) {
        ipv6_[n6] = load_ipv6(address);
        at6_[n6++] = static_cast<uint8_t>(i);
      }
    });
    n4_ = n4;
    n6_ = n6;
  }

  void clear() { n4_ = n6_ = 0; }
  [[nodiscard]] bool empty() const { return n4_ + n6_ == 0; }

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
