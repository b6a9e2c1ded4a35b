// SPDX-License-Identifier: BSD-3-Clause
// Longest-prefix-match tables from prefixes to numbers, of IPv4 and of IPv6.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rte_fib.h>
#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/fib6_compat.h"

namespace turnpike::router {

template <class Prefix>
struct FibEntry {
  Prefix prefix;
  uint32_t value = 0;
};

/// Read-only after build(); any thread looks up. Addresses without a match have the value 0. A
/// family without entries takes no memory.
class Fib {
 public:
  /// Largest value of an entry.
  static constexpr uint32_t kMaxValue = (1U << 30) - 1;
  /// Largest number of addresses in one lookup.
  static constexpr size_t kMaxLookup = kMaxFib6Lookup;

  /// Later entries of a prefix replace earlier ones. `name`: unique in the process, at most 24
  /// characters. `socket`: NUMA node, -1: any. The error: no memory, or a limit of the library.
  static tl::expected<Fib, std::string> build(const std::string& name,
                                              std::span<const FibEntry<config::Ipv4Prefix>> ipv4,
                                              std::span<const FibEntry<config::Ipv6Prefix>> ipv6,
                                              int socket);

  /// About as many B as build() takes of DPDK's memory for so many entries.
  static size_t memory(size_t ipv4, size_t ipv6);

  /// Writes a value for each address; IPv4 in host byte order.
  void find(std::span<const uint32_t> addresses, uint64_t* out) const {
    if (!ipv4_) return void(std::fill_n(out, addresses.size(), 0));
    // The library takes a pointer to mutable addresses but only reads them.
    rte_fib_lookup_bulk(ipv4_.get(), const_cast<uint32_t*>(addresses.data()), out,
                        static_cast<int>(addresses.size()));
  }
  void find(std::span<const config::Ipv6> addresses, uint64_t* out) const {
    if (!ipv6_) return void(std::fill_n(out, addresses.size(), 0));
    fib6_lookup(ipv6_.get(), addresses, out);
  }

 private:
  struct Free {
    void operator()(rte_fib* f) const { rte_fib_free(f); }
    void operator()(rte_fib6* f) const { rte_fib6_free(f); }
  };

  std::unique_ptr<rte_fib, Free> ipv4_;
  std::unique_ptr<rte_fib6, Free> ipv6_;
};

}  // namespace turnpike::router
