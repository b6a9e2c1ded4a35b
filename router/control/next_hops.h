// SPDX-License-Identifier: BSD-3-Clause
// The next hops that routes refer to by number, each kept as long as something refers to it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "router/control/neighbours.h"
#include "router/control/next_hop.h"

namespace turnpike::router {

/// Where a path leads: a gateway on a link, or each destination itself.
struct Via {
  size_t link = 0;  // index among the router's links
  std::variant<std::monostate, config::Ipv4, config::Ipv6> gateway = {};

  auto operator<=>(const Via&) const = default;
};

/// The router's end of a link.
struct HopLink {
  uint16_t mtu = 1500;    // B of the largest IP datagram
  uint32_t overhead = 0;  // B per packet that the link carries beyond it
  config::Mac mac{};
};

/// Next hops by number, as the values in the FIB. Collects what changes, for Routes.
class NextHops {
 public:
  using Changes = std::vector<std::pair<uint32_t, NextHop>>;

  // Numbers of next hops that always exist.
  static constexpr uint32_t kNoRoute = 0, kBlackhole = 1, kUnreachable = 2, kProhibit = 3;
  [[nodiscard]] uint32_t local(size_t link) const { return fixed(link, 0); }
  [[nodiscard]] uint32_t broadcast(size_t link) const { return fixed(link, 1); }

  explicit NextHops(std::vector<HopLink> links);

  /// The next hop by a gateway: kForward if its MAC address is known, else kUnresolved. Adds a
  /// reference.
  uint32_t take(const Via& via);
  /// A new next hop, with one reference.
  uint32_t add(const NextHop& hop);
  void hold(uint32_t number) { ++slots_[number].references; }
  /// Takes back a reference. True: it was the last; the number may be used for another one.
  bool release(uint32_t number);

  /// Makes packets for a neighbour forwarded, or unresolved. Does not tell Routes of addresses on a
  /// link without a next hop of their own.
  void set_neighbour(size_t link, const Address& address, const config::Mac& mac);
  void erase_neighbour(size_t link, const Address& address);
  [[nodiscard]] const Neighbours& neighbours() const { return neighbours_; }
  /// Gateways without a known MAC address.
  [[nodiscard]] std::vector<Via> unresolved() const;
  /// B of the largest IP datagram from now on.
  void set_mtu(size_t link, uint16_t mtu);

  [[nodiscard]] const NextHop& operator[](uint32_t number) const { return slots_[number].hop; }
  [[nodiscard]] const Via& via(uint32_t number) const { return slots_[number].via; }
  /// Next hops in use, those that always exist included.
  [[nodiscard]] size_t size() const { return slots_.size() - free_.size(); }
  [[nodiscard]] size_t links() const { return links_.size(); }

  /// Next hops added or changed since the last call, the last change of each last.
  Changes take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Slot {
    NextHop hop;
    Via via;
    uint32_t references = 0;
  };
  static constexpr uint32_t kFixed = 4, kPerLink = 2;

  [[nodiscard]] static uint32_t fixed(size_t link, uint32_t which) {
    return kFixed + kPerLink * static_cast<uint32_t>(link) + which;
  }
  [[nodiscard]] NextHop hop_of(const Via& via, uint32_t number) const;
  void change(uint32_t number, const NextHop& hop);
  void refresh(const Via& via);

  std::vector<HopLink> links_;
  Neighbours neighbours_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::map<Via, uint32_t> by_via_;
  Changes changes_;
};

}  // namespace turnpike::router
