// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/file_routes.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <tuple>

namespace turnpike::router {

namespace {

FibCapacity capacity_of(const config::Router& router) {
  return FibCapacity::of(router.fib->ipv4, router.fib->ipv6);
}

template <class A>
bool has_value(const A& address) {
  return address != A{};
}

/// Of the file's routes, which so have other keys than those of a control plane: at the same
/// distance the control plane's serve.
constexpr uint32_t kFileMetric = UINT32_MAX;

/// Adds a router's routes to its table.
class FileRoutes {
 public:
  FileRoutes(const config::Topology& topology, const config::Router& router, RouteSink& table)
      : topology_(topology), router_(router), table_(table) {}

  template <class P>
  void add_routes(const std::vector<config::Route<P>>& routes, size_t count) {
    for (size_t i = 0; i < count; ++i) table_.set_route(routes[i].prefix, route_of(routes[i]));
  }

  template <class P>
  [[nodiscard]] Route route_of(const config::Route<P>& route) const {
    const auto link =
        static_cast<size_t>(std::ranges::find(router_.links, route.link) - router_.links.begin());
    return {.distance = route.distance,
            .metric = kFileMetric,
            .paths = {{.link = link, .gateway = gateway(link, P{})}}};
  }

  /// A link's subnets, the router's addresses and its neighbour.
  void add_link(size_t link) {
    add_subnet(link, own(link).ipv4, peer(link).ipv4.address);
    add_subnet(link, own(link).ipv6, peer(link).ipv6.address);
    const config::Ipv4Prefix& v4 = own(link).ipv4;
    if (!has_value(v4.address) || v4.length > 30) return;  // RFC 3021
    const config::Ipv4 first = config::network(v4).address;
    for (const config::Ipv4 a : {first, last_of(config::network(v4))})
      if (a != v4.address) add_host(link, config::Ipv4Prefix{a, 32}, Route::Action::kBroadcast);
  }

 private:
  [[nodiscard]] const config::Interface& end(size_t link, size_t other) const {
    const config::Link& l = topology_.links[router_.links[link]];
    return l.ends[l.end_at(router_.name) ^ other];
  }
  [[nodiscard]] const config::Interface& own(size_t link) const { return end(link, 0); }
  [[nodiscard]] const config::Interface& peer(size_t link) const { return end(link, 1); }

  // The neighbour's address of the route's family, else of the other one.
  template <class P>
  [[nodiscard]] decltype(Path::gateway) gateway(size_t link, const P&) const {
    const bool v4 = has_value(peer(link).ipv4.address), v6 = has_value(peer(link).ipv6.address);
    if (v4 && (std::is_same_v<P, config::Ipv4Prefix> || !v6)) return peer(link).ipv4.address;
    if (v6) return peer(link).ipv6.address;
    return {};
  }

  template <class P>
  void add_host(size_t link, const P& host, Route::Action action) {
    table_.set_route(host, {.action = action, .paths = {{.link = link, .gateway = {}}}});
  }

  template <class P>
  void add_subnet(size_t link, const P& subnet, const decltype(P::address)& neighbour) {
    if (!has_value(subnet.address)) return;
    const P net = config::network(subnet);
    constexpr uint8_t kHost = PrefixTable<P>::kMaxLength;
    if (net.length < kHost) table_.set_route(net, {.paths = {{.link = link, .gateway = {}}}});
    add_host(link, P{subnet.address, kHost}, Route::Action::kLocal);
    if (has_value(neighbour)) table_.set_neighbour(link, neighbour, peer(link).mac);
  }

  const config::Topology& topology_;
  const config::Router& router_;
  RouteSink& table_;
};

/// Number of the file's routes that a router's table holds, of those that are listed.
template <class P>
size_t routes_in_table(const std::vector<config::Route<P>>& routes, size_t by_hand,
                       Addresses addresses) {
  return addresses == Addresses::kFromControlPlane ? by_hand : routes.size();
}
size_t ipv4_in_table(const config::Router& r, Addresses addresses) {
  return routes_in_table(r.ipv4_routes, r.ipv4_by_hand + r.ipv4_in_table, addresses);
}
size_t ipv6_in_table(const config::Router& r, Addresses addresses) {
  return routes_in_table(r.ipv6_routes, r.ipv6_by_hand + r.ipv6_in_table, addresses);
}

/// Of two lists of routes, adds what differs. Of several routes to a prefix the last one counts, as
/// in set_route().
template <class P>
void compare(const FileRoutes& before, std::span<const config::Route<P>> running,
             const FileRoutes& after, std::span<const config::Route<P>> wanted,
             FileRouteChanges& changes) {
  using Key = std::tuple<decltype(P::address), uint8_t, uint8_t>;
  const auto key = [](const config::Route<P>& r) {
    const P net = config::network(r.prefix);
    return Key(net.address, net.length, r.distance);
  };
  std::map<Key, const config::Route<P>*> were, will_be;
  for (const auto& r : running) were[key(r)] = &r;
  for (const auto& r : wanted) will_be[key(r)] = &r;
  for (const auto& [k, r] : were)
    if (!will_be.contains(k)) changes.gone.emplace_back(config::network(r->prefix), r->distance);
  for (const auto& [k, r] : will_be) {
    Route route = after.route_of(*r);
    const auto was = were.find(k);
    if (was == were.end() || before.route_of(*was->second).paths != route.paths)
      changes.set.emplace_back(config::network(r->prefix), std::move(route));
  }
}

}  // namespace

void FileRouteChanges::apply(RouteSink& table) const {
  if (gone.empty() && set.empty()) return;
  for (const auto& [prefix, distance] : gone) table.erase_route(prefix, distance, kFileMetric);
  for (const auto& [prefix, route] : set) table.set_route(prefix, route);
  table.commit();
}

FileRouteChanges file_route_changes(const config::Topology& running, size_t before,
                                    const config::Topology& wanted, size_t after,
                                    Addresses addresses, RouteTable& table) {
  const config::Router& was = running.routers[before];
  const config::Router& is = wanted.routers[after];
  const FileRoutes old(running, was, table), made(wanted, is, table);
  FileRouteChanges changes;
  compare<config::Ipv4Prefix>(old, {was.ipv4_routes.data(), ipv4_in_table(was, addresses)}, made,
                              {is.ipv4_routes.data(), ipv4_in_table(is, addresses)}, changes);
  compare<config::Ipv6Prefix>(old, {was.ipv6_routes.data(), ipv6_in_table(was, addresses)}, made,
                              {is.ipv6_routes.data(), ipv6_in_table(is, addresses)}, changes);
  return changes;
}

RouteTableMemory route_table_memory(const config::Router& router) {
  constexpr size_t kCopies = 2;
  if (!router.fib) return {};
  FibCapacity c = capacity_of(router);
  const size_t ipv4 = kCopies * Dir24::memory(c.ipv4_groups) + Dir24Index::memory(c.ipv4_groups);
  c.ipv4 = 0;
  return {.dpdk = kCopies * Fib::memory(c), .beside = ipv4};
}

tl::expected<std::unique_ptr<RouteTable>, std::string> make_route_table(
    const config::Topology& topology, size_t router, const Tables& tables, Addresses addresses,
    unsigned workers, int socket) {
  const config::Router& self = topology.routers[router];
  RouteTable::Options options;
  char name[24];
  std::snprintf(name, sizeof name, "t%zx", reinterpret_cast<size_t>(&tables));
  options.name = name;  // of an object's address: unique in the process
  options.capacity = capacity_of(self);
  options.workers = workers;
  options.socket = socket;
  options.seed = static_cast<uint32_t>(topology.run.seed * 31 + router);
  for (const size_t l : self.links) {
    const config::Link& link = topology.links[l];
    const size_t end = link.end_at(self.name);
    options.links.push_back(
        {.mtu = link.mtu,
         .overhead = static_cast<uint32_t>(link.directions[end].overhead.count()),
         .mac = link.ends[end].mac});
  }
  auto table = RouteTable::make(options);
  if (!table) return tl::unexpected("forwarding tables of " + self.name + ": " + table.error());

  const bool learns = addresses == Addresses::kFromControlPlane;
  FileRoutes file(topology, self, **table);
  file.add_routes(self.ipv4_routes, ipv4_in_table(self, addresses));
  file.add_routes(self.ipv6_routes, ipv6_in_table(self, addresses));
  for (size_t l = 0; l < self.links.size() && !learns; ++l) file.add_link(l);
  for (size_t i = 0; i < tables.trees().size(); ++i)
    (*table)->pin({tables.trees()[i].group4, 32},
                  {.action = NextHop::Action::kTree, .link = static_cast<uint16_t>(i)});
  (*table)->commit();
  if (const auto stats = (*table)->stats(); stats.waiting > 0)
    return tl::unexpected("forwarding tables of " + self.name + ": no room for " +
                          std::to_string(stats.waiting) +
                          " of the file's prefixes: raise fib.ipv4 or fib.ipv6 of the router");
  return table;
}

}  // namespace turnpike::router
