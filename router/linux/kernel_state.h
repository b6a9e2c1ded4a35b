// SPDX-License-Identifier: BSD-3-Clause
// A mirror of the kernel's links, addresses, neighbours, nexthop objects and routes, which tells a
// RouteSink of every change. It removes by itself what the kernel removes without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "router/linux/interfaces.h"
#include "router/linux/kernel_neighbours.h"
#include "router/linux/kernel_routes.h"
#include "router/linux/messages.h"
#include "router/linux/nexthops.h"
#include "router/linux/resync.h"

namespace turnpike::router {

/// Objects that one dump lists.
enum class DumpKind : uint8_t {
  kLinks,
  kAddresses,
  kNexthops,
  kNeighbours,
  kIpv4Routes,
  kIpv6Routes,
  kCount,
};

class KernelState {
 public:
  struct Parts {
    RouteSink& sink;  // outlives it, like the listener
    KernelListener& listener;
    Interfaces::Names interfaces = {};  // name of an interface -> link that it mirrors
    Distances distances = default_distances();
  };
  explicit KernelState(const Parts& parts);

  /// Of the messages that follow, for the ages of neighbours.
  void set_time(Nanos now) { neighbours_.set_time(now); }

  /// Applies a notification. Its effects wait for commit().
  void apply(const Message& message);

  /// Mark and sweep: begin(), apply_dumped() for each message of the dump, end(). If the dump is
  /// not `complete`, nothing is removed.
  void begin(DumpKind kind);
  void apply_dumped(const Message& message);
  void end(DumpKind kind, bool complete);

  /// Lets all changes since the last commit take effect in the sink. Takes time in proportion to
  /// all routes after a link or a nexthop object in use changed, else to the changes.
  void commit();

  /// Other links from now on; effective at the next commit().
  void set_interfaces(Interfaces::Names names);

  /// Why the state may differ from the kernel's since the last call, if it may: only a dump can
  /// tell then.
  std::optional<ResyncReason> take_doubt() { return std::exchange(doubt_, std::nullopt); }

  /// See KernelNeighbours.
  std::vector<NeighbourProbes::Neighbour> take_stale() { return neighbours_.take_stale(); }

  [[nodiscard]] const Interfaces& interfaces() const { return interfaces_; }
  [[nodiscard]] const RouteCounts& routes() const { return routes_.counts(); }
  [[nodiscard]] const KernelNeighbours& neighbours() const { return neighbours_; }
  [[nodiscard]] const Nexthops& nexthops() const { return nexthops_; }
  /// Own addresses of all interfaces.
  [[nodiscard]] size_t addresses() const;

 private:
  struct OwnAddress {
    Address address;
    uint8_t length = 0;
    auto operator<=>(const OwnAddress&) const = default;
  };
  using OwnAddresses = std::map<OwnAddress, uint32_t>;  // with the dump that listed them last
  static bool has_ipv4(const OwnAddresses& own);

  void apply_link(const LinkMessage& message);
  void forget_nexthops(uint32_t interface);
  void apply_address(const AddressMessage& message);
  void apply_nexthop(const NexthopMessage& message);
  void remove_interface(uint32_t interface);
  void remove_address(uint32_t interface, const OwnAddress& address);
  /// Removes what the kernel removes in silence as the interface goes down.
  void purge_interface(uint32_t interface);
  [[nodiscard]] bool dies_with(const KernelRoute& route, uint32_t interface) const;
  void take(const Nexthops::Change& change);
  void refresh_changed();
  void tell_link(const Interfaces::Interface& interface);
  [[nodiscard]] bool concerned(const KernelRoute& route) const;
  void doubt(ResyncReason reason) {
    if (!doubt_) doubt_ = reason;
  }

  RouteSink& sink_;
  KernelListener& listener_;
  Interfaces interfaces_;
  Nexthops nexthops_;
  KernelNeighbours neighbours_;
  KernelRoutes routes_;
  std::unordered_map<uint32_t, OwnAddresses> addresses_;  // by interface
  uint32_t generation_ = 0;
  // Changed since the last commit; routes over them are decided again then.
  std::unordered_set<uint32_t> changed_interfaces_, changed_nexthops_;
  bool changed_links_ = false;
  std::optional<ResyncReason> doubt_;
};

}  // namespace turnpike::router
