// SPDX-License-Identifier: BSD-3-Clause
// Wraps the IPv6 FIB of DPDK 22.11, which takes addresses as byte arrays, and of 24.11, which has a
// type for them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include <rte_fib6.h>
#include <rte_version.h>

#include "common/config/topology.h"

namespace turnpike::router {

#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)

using Fib6Address = rte_ipv6_addr;

inline int fib6_add(rte_fib6* fib, const config::Ipv6& address, uint8_t length, uint64_t hop) {
  rte_ipv6_addr ip;
  std::memcpy(ip.a, address.data(), sizeof ip.a);
  return rte_fib6_add(fib, &ip, length, hop);
}

inline int fib6_delete(rte_fib6* fib, const config::Ipv6& address, uint8_t length) {
  rte_ipv6_addr ip;
  std::memcpy(ip.a, address.data(), sizeof ip.a);
  return rte_fib6_delete(fib, &ip, length);
}

#else

using Fib6Address = uint8_t[RTE_FIB6_IPV6_ADDR_SIZE];

inline int fib6_add(rte_fib6* fib, const config::Ipv6& address, uint8_t length, uint64_t hop) {
  return rte_fib6_add(fib, address.data(), length, hop);
}

inline int fib6_delete(rte_fib6* fib, const config::Ipv6& address, uint8_t length) {
  return rte_fib6_delete(fib, address.data(), length);
}

#endif

inline int fib6_lookup(rte_fib6* fib, std::span<const config::Ipv6> addresses, uint64_t* hops) {
  static_assert(sizeof(Fib6Address) == sizeof(config::Ipv6));
  // The library takes a pointer to mutable addresses but only reads them.
  auto* ips = reinterpret_cast<Fib6Address*>(const_cast<config::Ipv6*>(addresses.data()));
  return rte_fib6_lookup_bulk(fib, ips, hops, static_cast<int>(addresses.size()));
}

}  // namespace turnpike::router
