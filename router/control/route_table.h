// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables that a control plane changes while workers look up in them.
//
// Example:
//
//     auto table = RouteTable::make({.name = "edge",
//                                    .links = {{.mtu = 1500}},
//                                    .capacity = FibCapacity::of(1000, 1000)});
//     if (!table) return;                                    // table.error() says why
//     (*table)->set_route(config::Ipv4Prefix{0, 0},          // a default route by 192.0.2.1
//                         {.distance = 20, .paths = {{.link = 0, .gateway = 0xc0000201}}});
//     (*table)->set_neighbour(0, 0xc0000201, {2, 0, 0, 0, 0, 1});
//     (*table)->commit();
//     const Routes* routes = (*table)->current().load();     // as a worker does in each poll
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "router/control/dir24_index.h"
#include "router/control/prefix_table.h"
#include "router/control/route_copies.h"

namespace turnpike::router {

/// Used by one thread, except current() and quiescence(). Neighbours on a link become host routes
/// as long as the longest route to their address leads to the link without a gateway.
class RouteTable final : public RouteSink {
 public:
  struct Options {
    std::string name;  // as in Fib
    std::vector<HopLink> links;
    FibCapacity capacity;
    unsigned workers = 1;
    int socket = -1;    // NUMA node; -1: any
    uint32_t seed = 0;  // of the hashes of flows
  };
  struct Stats {
    size_t ipv4 = 0, ipv6 = 0;  // routes
    size_t hops = 0, groups = 0, neighbours = 0;
    size_t waiting = 0;        // prefixes not in the FIB, for want of room
    uint64_t refused = 0;      // times that the FIB had no room for a prefix
    uint64_t invalid = 0;      // routes or neighbours of links that the router does not have
    uint64_t commits = 0;      // that changed something
    uint64_t changes = 0;      // of prefixes in the FIB
    uint64_t rebuilds = 0;     // see RouteCopies
    uint64_t differences = 0;  // see RouteCopies
  };
  /// Calls for each prefix with the route that serves, its metric and all; `in_fib`: workers use
  /// it.
  using Visitor = std::function<void(const Prefix&, const Route&, bool in_fib)>;

  /// The error: no memory.
  static tl::expected<std::unique_ptr<RouteTable>, std::string> make(Options options);

  void set_route(const Prefix& prefix, Route route) override;
  void erase_route(const Prefix& prefix, uint8_t distance, uint32_t metric) override;
  void set_neighbour(size_t link, const Address& address, const config::Mac& mac) override;
  void erase_neighbour(size_t link, const Address& address) override;
  /// Publishes the changes: the next poll of each worker sees them. Waits until no worker uses the
  /// state before the last commit, at most for the longest poll or sleep of a worker. Without
  /// changes it frees what the last commit replaced.
  void commit() override;

  /// Adds a route of distance 0 to a next hop that is given, such as to a tree's group.
  void pin(const config::Ipv4Prefix& prefix, const NextHop& hop);
  /// Changes a link's MTU, B of the largest IP datagram.
  void set_mtu(size_t link, uint16_t mtu) { hops_.set_mtu(link, mtu); }

  /// The routes that workers look up in.
  [[nodiscard]] const std::atomic<const Routes*>& current() const { return copies_->current(); }
  /// Where workers report that they hold no pointer into it.
  [[nodiscard]] Quiescence& quiescence() { return *quiescence_; }

  /// Of a next hop with action kUnresolved: its link and gateway. No gateway: the packet's
  /// destination is the neighbour to resolve. Another thread's `id` may be out of date, and then
  /// gives the gateway of another next hop, or none on link 0.
  [[nodiscard]] Via gateway_of(uint32_t id) const { return hops_.via(id); }

  /// Gateways of routes whose MAC addresses are not known.
  [[nodiscard]] std::vector<Via> unresolved() const { return hops_.unresolved(); }

  /// In no particular order.
  void for_each(const Visitor& visit) const;
  [[nodiscard]] Stats stats() const;
  /// Commits that changed something.
  [[nodiscard]] uint64_t commits() const { return commits_; }

 private:
  RouteTable(std::unique_ptr<Quiescence> quiescence, std::unique_ptr<RouteCopies> copies,
             std::vector<HopLink> links, const FibCapacity& capacity)
      : quiescence_(std::move(quiescence)),
        copies_(std::move(copies)),
        hops_(std::move(links)),
        index_(capacity.ipv4, capacity.ipv4_groups, ipv4_.table) {}

  template <class P>
  struct Family {
    using Node = typename PrefixTable<P>::Node;

    PrefixTable<P> table;
    std::vector<Node*> dirty;
    std::vector<P> waiting;  // refused
  };
  /// A prefix with another next hop in the FIB.
  template <class P>
  struct Change {
    P prefix;
    uint32_t value = 0;  // 0: it goes
    bool added = false;
  };
  template <class P>
  using Changes = std::vector<Change<P>>;
  Family<config::Ipv4Prefix>& of(const config::Ipv4Prefix&) { return ipv4_; }
  Family<config::Ipv6Prefix>& of(const config::Ipv6Prefix&) { return ipv6_; }

  template <class P>
  void add(const P& prefix, const StoredRoute& route);
  template <class P>
  void mark(Family<P>& family, typename Family<P>::Node& node);
  template <class P>
  void mark_neighbours(const P& prefix);
  void mark_host(const Address& address);
  void forget(const StoredRoute& route);

  template <class P>
  uint32_t take_hop(const typename Family<P>::Node& node);
  template <class A>
  uint32_t take_neighbour(const StoredRoute& route, const A& address);
  template <class P>
  Changes<P> collect(Family<P>& family);
  template <class P>
  void compute(Family<P>& family, Changes<P>& changes);
  template <class P>
  void refuse(Family<P>& family, const P& prefix);
  Dir24Index::Writes writes_for(const Changes<config::Ipv4Prefix>& changes);
  template <class P>
  static size_t waiting(const Family<P>& family);
  [[nodiscard]] bool valid(std::vector<Path>& paths);

  std::unique_ptr<Quiescence> quiescence_;
  std::unique_ptr<RouteCopies> copies_;
  NextHops hops_;
  PathLists lists_;
  PathGroups groups_{hops_, lists_};
  Family<config::Ipv4Prefix> ipv4_;
  Family<config::Ipv6Prefix> ipv6_;
  Dir24Index index_;
  uint64_t refused_ = 0, invalid_ = 0, commits_ = 0, changes_ = 0;
};

}  // namespace turnpike::router
