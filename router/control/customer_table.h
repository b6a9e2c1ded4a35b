// SPDX-License-Identifier: BSD-3-Clause
// An immutable table of customers: from a packet's source address or input link to a number, and
// from there to a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/dir24.h"
#include "router/control/fib.h"

namespace turnpike::router {

/// Customers have the numbers 1 to size(), in the order of Topology::customers. 0: of no customer.
class CustomerTable {
 public:
  /// The table of topology.routers[router], on NUMA node `socket` (-1: any).
  static tl::expected<std::unique_ptr<const CustomerTable>, std::string> build(
      const config::Topology& topology, size_t router, int socket);

  /// Whether the router needs a table: it enforces budgets, or has a link that groups share.
  static bool needed(const config::Topology& topology, const config::Router& router);
  /// B of large pages for the table of a router that needs one; 0 for others.
  static size_t large_memory(const config::Topology& topology, const config::Router& router) {
    return needed(topology, router) ? Dir24::built_memory(topology.ipv4_customers.size()) : 0;
  }
  /// B of DPDK's memory for it.
  static size_t memory(const config::Topology& topology, const config::Router& router) {
    return needed(topology, router) ? Fib::memory(0, topology.ipv6_customers.size()) : 0;
  }

  /// Writes the customer of each source address, at most Fib::kMaxLookup; IPv4 in host byte order.
  void find(std::span<const uint32_t> sources, uint64_t* out) const {
    if (!ipv4_) return void(std::fill_n(out, sources.size(), 0));
    ipv4_.find(sources, out);
  }
  void find(std::span<const config::Ipv6> sources, uint64_t* out) const {
    ipv6_.find(sources, out);
  }
  /// Prefetches the entry of an IPv4 address.
  void prefetch(uint32_t source) const {
    if (ipv4_) ipv4_.prefetch(source);
  }
  /// The customer that has one of the router's links to itself; 0: look up the source address.
  [[nodiscard]] uint32_t of_link(size_t link) const { return by_link_[link]; }

  /// LinkPacket::group by customer: 1 and up in the order of Topology::groups. 0 for a customer
  /// without one, and for packets of no customer.
  [[nodiscard]] const uint16_t* groups() const { return groups_.data(); }

  [[nodiscard]] size_t size() const { return size_; }

 private:
  CustomerTable() = default;

  Dir24 ipv4_;  // in large pages: random customers would miss the TLB otherwise
  Fib ipv6_;
  std::vector<uint32_t> by_link_;  // by index among the router's links
  std::vector<uint16_t> groups_;
  size_t size_ = 0;
};

}  // namespace turnpike::router
