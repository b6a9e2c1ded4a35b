// SPDX-License-Identifier: BSD-3-Clause
// An immutable snapshot of the forwarding tables: routes, neighbours, own addresses.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/routes.h"

namespace turnpike::router {

/// The router's interface at one of its links.
struct Station {
  wire::Mac mac{};
  config::Ipv4Prefix ipv4;
  config::Ipv6Prefix ipv6;
  config::Ipv6 link_local{};  // fe80::/64 with the MAC's EUI-64 (RFC 4291 appendix A)
  uint16_t mtu = 1500;
  bool tagged_port = false;  // frames that still have a tag are in a VLAN of no link (VlanTrunk)
};

/// The router's part of a multicast tree: packets from the root arrive by `upstream` and leave by
/// the links of `children`; answers go the other way.
struct TreeEntry {
  config::Ipv4 root4 = 0, group4 = 0;
  config::Ipv6 root6{}, group6{};
  const NextHop* upstream = nullptr;
  std::vector<const NextHop*> children;
  size_t flows = 0;  // that the topology sends to the tree
  Nanos timeout{0};  // silence of one branch after which others do not wait for it
};

/// Built by the control plane, then read-only and shared by the workers. Lookups are longest prefix
/// matches; neighbours and own addresses are host routes, so that one lookup suffices.
class Tables {
 public:
  /// Whether the snapshot has routes, or a RouteTable has them.
  enum class With : uint8_t { kRoutes, kNoRoutes };
  /// The snapshot for topology.routers[router], on NUMA node `socket` (-1: any). The error: no
  /// memory, or a limit of the FIB.
  static tl::expected<std::unique_ptr<const Tables>, std::string> build(
      const config::Topology& topology, size_t router, int socket, With with = With::kRoutes,
      FibKind kind = FibKind::kTable);

  /// At most kMaxLookup addresses per call, IPv4 in host byte order; writes a next hop for each.
  static constexpr size_t kMaxLookup = Routes::kMaxLookup;
  void find(std::span<const uint32_t> addresses, const NextHop** out) const {
    routes_.find(addresses, out);
  }
  void find(std::span<const config::Ipv6> addresses, const NextHop** out) const {
    routes_.find(addresses, out);
  }
  /// The same for one address.
  [[nodiscard]] const NextHop& find(uint32_t address) const { return routes_.find(address); }
  [[nodiscard]] const NextHop& find(const config::Ipv6& address) const {
    return routes_.find(address);
  }
  [[nodiscard]] const Routes& routes() const { return routes_; }

  [[nodiscard]] std::span<const Station> stations() const { return stations_; }
  /// Whether the address is that of one of the router's interfaces.
  [[nodiscard]] bool own(uint32_t address) const;
  [[nodiscard]] bool own(const config::Ipv6& address) const;
  /// Bloom filter: false: the address is not the router's own. True: it is, or shares its bit with
  /// an own address (probability at most about 1/64).
  template <class Address>
  [[nodiscard]] bool may_be_own(const Address& address) const {
    const uint64_t bit = filter_bit(address);
    return (own_filter_[bit / 64] >> (bit % 64) & 1) != 0;
  }

  // Of Fibonacci hashing, which vectors do, too.
  static constexpr uint32_t kGolden32 = 0x9e3779b1;
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static constexpr unsigned kOwnShift = 27, kOwnShift6 = 58;
  /// A smaller filter of the IPv4 addresses: bit own_hash(a) is set for every own address `a`.
  [[nodiscard]] uint32_t own_hashes() const { return own_hashes_; }
  static constexpr uint32_t own_hash(uint32_t address) { return address * kGolden32 >> kOwnShift; }
  /// The same of the IPv6 addresses: bit h * kGolden >> kOwnShift6 for the XOR h of an address's
  /// halves, as they lie in memory.
  [[nodiscard]] uint64_t own_hashes6() const { return own_hashes6_; }

  /// The trees with a branch at this router.
  [[nodiscard]] std::span<const TreeEntry> trees() const { return trees_; }
  /// Index of the tree of a group address; trees().size(): none.
  [[nodiscard]] size_t find_tree(uint32_t group) const;
  [[nodiscard]] size_t find_tree(const config::Ipv6& group) const;

  /// Whether packets from addresses with this next hop may arrive by the router's link `input`
  /// although their route begins with another one. False unless a link has check kFeasible.
  [[nodiscard]] bool feasible(const NextHop& hop, size_t input) const {
    return hop.feasible != 0 && feasible_[hop.feasible][input];
  }

  [[nodiscard]] uint16_t udp_port() const { return udp_port_; }
  /// B of the congestion header of a Turnpike protocol; 0: unknown protocol.
  [[nodiscard]] uint8_t congestion_size(uint8_t protocol) const {
    return congestion_sizes_[protocol];
  }

 private:
  Tables() = default;

  void fill_filter();
  static uint64_t halves_of(const config::Ipv6& address) {
    uint64_t halves[2];
    std::memcpy(halves, address.data(), sizeof halves);
    return halves[0] ^ halves[1];
  }
  [[nodiscard]] uint64_t filter_bit(uint64_t key) const { return key * kGolden >> own_shift_; }
  [[nodiscard]] uint64_t filter_bit(const config::Ipv6& address) const {
    return filter_bit(halves_of(address));
  }

  Routes routes_;
  std::vector<std::vector<bool>> feasible_;  // by NextHop::feasible and link
  std::vector<Station> stations_;
  std::vector<TreeEntry> trees_;
  std::vector<uint32_t> own_ipv4_;  // sorted
  std::vector<config::Ipv6> own_ipv6_;
  std::vector<uint64_t> own_filter_;  // one bit per own address' hash, 64 bits for each
  uint32_t own_hashes_ = 0;
  uint64_t own_hashes6_ = 0;
  unsigned own_shift_ = 58;  // right shift from a 64-bit hash to a bit's number
  std::array<uint8_t, 256> congestion_sizes_{};
  uint16_t udp_port_ = 0;
};

}  // namespace turnpike::router
