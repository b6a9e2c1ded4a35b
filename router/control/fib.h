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

#include "common/config/prefix_ranges.h"
#include "common/config/topology.h"
#include "router/control/fib6_compat.h"

namespace turnpike::router {

template <class Prefix>
struct FibEntry {
  Prefix prefix;
  uint32_t value = 0;
};

/// kRanges takes memory for the prefixes alone, but a lookup is a search. Only build() makes it,
/// and it does not change.
enum class FibKind : uint8_t { kTable, kRanges };

/// Room in a FIB, fixed when it is made.
struct FibCapacity {
  uint32_t ipv4 = 0, ipv6 = 0;                  // prefixes; 0: no table for the family
  uint32_t ipv4_groups = 0, ipv6_groups = 0;    // of 256 entries, for longer prefixes than 24 bits
  bool ipv4_small = false, ipv6_small = false;  // values and groups fit in 15 bits

  /// Room for so many prefixes of a router that learns them. One in sixteen of IPv4 is longer than
  /// 24 bits; an IPv6 prefix takes a group of its own on average, at most three for a /48.
  static FibCapacity of(uint32_t ipv4, uint32_t ipv6);
};

/// Any thread looks up while no thread changes it. Addresses without a match have the value 0. A
/// family without room takes no memory.
class Fib {
 public:
  /// Largest value of an entry.
  static constexpr uint32_t kMaxValue = (1U << 30) - 1;
  /// Largest number of addresses in one lookup.
  static constexpr size_t kMaxLookup = 64;

  /// An empty table. `name`: unique in the process, at most 24 characters. `socket`: NUMA node, -1:
  /// any. The error: no memory.
  static tl::expected<Fib, std::string> create(const std::string& name, const FibCapacity& capacity,
                                               int socket);
  /// A table with these entries and no room for more. Later entries of a prefix replace earlier
  /// ones. The error: no memory, or a limit of the library.
  static tl::expected<Fib, std::string> build(const std::string& name,
                                              std::span<const FibEntry<config::Ipv4Prefix>> ipv4,
                                              std::span<const FibEntry<config::Ipv6Prefix>> ipv6,
                                              int socket, FibKind kind = FibKind::kTable);

  /// About as many B as build() takes for so many entries, of DPDK's memory but for kRanges.
  static size_t memory(size_t ipv4, size_t ipv6, FibKind kind = FibKind::kTable);
  /// The same of create().
  static size_t memory(const FibCapacity& capacity);

  /// Adds a prefix, without bits beyond its length, or replaces its value. False: the table is full
  /// and as before.
  bool set(const config::Ipv4Prefix& prefix, uint32_t value) {
    return ipv4_ && rte_fib_add(ipv4_.get(), prefix.address, prefix.length, value) == 0;
  }
  bool set(const config::Ipv6Prefix& prefix, uint32_t value) {
    return ipv6_ && fib6_add(ipv6_.get(), prefix.address, prefix.length, value) == 0;
  }
  /// Removes a prefix; does nothing if it is not there.
  void erase(const config::Ipv4Prefix& prefix) {
    if (ipv4_) rte_fib_delete(ipv4_.get(), prefix.address, prefix.length);
  }
  void erase(const config::Ipv6Prefix& prefix) {
    if (ipv6_) fib6_delete(ipv6_.get(), prefix.address, prefix.length);
  }
  /// Takes the other's table of IPv6.
  void take_ipv6(Fib&& other) { ipv6_ = std::move(other.ipv6_); }

  /// Writes a value for each address; IPv4 in host byte order.
  void find(std::span<const uint32_t> addresses, uint64_t* out) const {
    if (!ipv4_) return find_range(ipv4_ranges_, addresses, out);
    // The library takes a pointer to mutable addresses but only reads them.
    rte_fib_lookup_bulk(ipv4_.get(), const_cast<uint32_t*>(addresses.data()), out,
                        static_cast<int>(addresses.size()));
  }
  void find(std::span<const config::Ipv6> addresses, uint64_t* out) const {
    if (!ipv6_) return find_range(ipv6_ranges_, addresses, out);
    fib6_lookup(ipv6_.get(), addresses, out);
  }

 private:
  struct Free {
    void operator()(rte_fib* f) const { rte_fib_free(f); }
    void operator()(rte_fib6* f) const { rte_fib6_free(f); }
  };

  void look_up_in_vectors();

  template <class Prefix>
  using Ranges = std::unique_ptr<const config::PrefixRanges<Prefix, uint32_t>>;
  template <class Prefix>
  static Ranges<Prefix> ranges_of(std::span<const FibEntry<Prefix>> entries);
  static void find_range(const auto& ranges, const auto& addresses, uint64_t* out) {
    for (size_t i = 0; i < addresses.size(); ++i)
      out[i] = ranges == nullptr ? 0 : ranges->find(addresses[i]);
  }

  std::unique_ptr<rte_fib, Free> ipv4_;
  std::unique_ptr<rte_fib6, Free> ipv6_;
  Ranges<config::Ipv4Prefix> ipv4_ranges_;
  Ranges<config::Ipv6Prefix> ipv6_ranges_;
};

}  // namespace turnpike::router
