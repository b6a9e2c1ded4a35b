// SPDX-License-Identifier: BSD-3-Clause
// All routes of the kernel's tables local and main. Of each prefix the first that can be used, in
// the kernel's order, goes to the forwarding tables: Linux has chosen by then, and configured
// routes compete with its choice by distance.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "router/linux/interned.h"
#include "router/linux/nexthops.h"
#include "router/linux/resolve_route.h"
#include "router/linux/route_list.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

/// Why a message's route is not held at all.
enum class RejectedRoute : uint8_t {
  kOtherTable,     // neither main nor local, such as a VRF's
  kTypeOfService,  // serves packets of one DSCP
  kBySource,       // serves packets from one prefix
  kCached,         // an exception of another route
  kLinkLocal,      // fe80::/10: routers do not forward to it (RFC 4291 section 2.5.6)
  kMulticast,      // 224.0.0.0/4, ff00::/8
  kCount,
};

struct RouteCounts {
  uint64_t ipv4 = 0, ipv6 = 0;                                                  // routes held
  std::array<uint64_t, static_cast<size_t>(RouteStatus::kCount)> held{};        // now, by status
  std::array<uint64_t, static_cast<size_t>(RejectedRoute::kCount)> rejected{};  // messages
  uint64_t unknown_removed = 0;  // messages that removed a route which was not there
  uint64_t ambiguous = 0;        // messages that only a dump can explain
};

class KernelRoutes {
 public:
  /// All references must outlive it.
  KernelRoutes(RouteSink& sink, const Interfaces& interfaces, const Nexthops& nexthops,
               const Distances& distances);

  /// Applies a notification. Returns false if only a dump can show what the kernel has now.
  bool apply(const RouteMessage& message);
  /// Applies a message of a dump.
  void apply_dumped(const RouteMessage& message, uint32_t generation);
  /// Removes the routes of one IP version that the dump `generation` has not listed.
  void sweep(bool ipv6, uint32_t generation);

  /// Removes the routes of one IP version that `gone` selects.
  void purge(bool ipv6, const std::function<bool(const KernelRoute&)>& gone);
  /// Decides again about the prefixes with a route that `concerned` selects.
  void refresh(const std::function<bool(const KernelRoute&)>& concerned);

  /// Routes that use a nexthop object.
  [[nodiscard]] bool uses_nexthop(uint32_t id) const { return nexthop_users_.contains(id); }
  /// Whether the sink has changes that it has not committed.
  bool take_changed() { return std::exchange(changed_, false); }
  [[nodiscard]] const RouteCounts& counts() const { return counts_; }

 private:
  struct Slot {
    RouteList routes;
    std::shared_ptr<const Route> told;  // to the sink; null: none
  };
  template <class P>
  using Slots = std::unordered_map<P, Slot, PrefixHash, SamePrefix>;

  bool rejects(const RouteMessage& message);
  KernelRoute make(const RouteMessage& message, uint32_t generation);
  std::shared_ptr<const Hops> share(const Hops& hops);
  template <class P>
  bool apply_to(Slots<P>& slots, const P& prefix, const RouteMessage& message);
  /// Counts the slot again, tells the sink of its best route, and drops it if it is empty.
  template <class P>
  void close(Slots<P>& slots, typename Slots<P>::iterator at);
  /// Decides again about the slots with a route that `concerned` selects, and removes those routes
  /// if `remove`.
  template <class P, class Concerned>
  void change_all(Slots<P>& slots, bool remove, const Concerned& concerned);
  void count(const RouteList& routes, bool ipv6, int64_t sign);
  void tell(const Prefix& prefix, Slot& slot);

  RouteSink& sink_;
  const Interfaces& interfaces_;
  const Nexthops& nexthops_;
  Distances distances_;
  Interned<Hops, HopsHash, std::equal_to<>> hops_;
  Interned<Route, RouteHash, SameRoute> told_;
  Slots<config::Ipv4Prefix> ipv4_;
  Slots<config::Ipv6Prefix> ipv6_;
  std::unordered_map<uint32_t, uint64_t> nexthop_users_;  // nexthop object -> routes
  Route scratch_;
  bool changed_ = false;
  RouteCounts counts_;
};

}  // namespace turnpike::router
