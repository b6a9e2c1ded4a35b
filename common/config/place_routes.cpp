// SPDX-License-Identifier: BSD-3-Clause
// Routing tables: routes from the file, and the shortest path to every other subnet.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "common/config/address.h"
#include "common/config/draft.h"

namespace turnpike::config {
namespace {

std::optional<size_t> link_via(Draft& d, const Router& router, const Field<std::string>& via,
                               const std::string& path) {
  if (const auto link = neighbour_link(d, router, via.value)) return link;
  std::vector<std::string_view> names;
  for (const size_t i : router.links) names.emplace_back(d.topology.links[i].name);
  d.tables_right = false;
  if (parse_ipv4(via.value) || parse_ipv6(via.value)) {
    d.mistakes.add(via.at, path, "no neighbour of '" + router.name + "' has this address");
  } else if (d.links.contains(via.value)) {
    d.mistakes.add(via.at, path,
                   "link '" + via.value + "' does not end at '" + router.name + "'" +
                       suggestion(via.value, names));
  } else {
    d.mistakes.add(via.at, path,
                   "there is no link '" + via.value + "'" + suggestion(via.value, names));
  }
  return {};
}

template <class Prefix>
void add_by_hand(Draft& d, Router& router, std::vector<Route<Prefix>>& table, const Prefix& prefix,
                 const RouteSpec& spec, const std::string& path) {
  if (network(prefix).address != prefix.address)
    d.mistakes.add(spec.prefix.at, path + ".prefix",
                   "bits beyond the prefix length are set (did you mean '" +
                       prefix_text(network(prefix)) + "'?)");
  const Prefix key = network(prefix);
  for (const auto& route : table)
    if (route.prefix.address == key.address && route.prefix.length == key.length)
      d.mistakes.add(spec.prefix.at, path + ".prefix", prefix_text(key) + " has a route already");
  if (spec.via.wrong) return;
  if (const auto link = link_via(d, router, spec.via, path + ".via"))
    table.push_back({key, *link, static_cast<uint8_t>(spec.distance.value)});
}

void place_by_hand(Draft& d, size_t index) {
  Router& router = d.topology.routers[index];
  const auto& [name, at, spec] = d.file.routers.value[index];
  const auto& routes = spec.routes.value.items;
  for (size_t i = 0; i < routes.size(); ++i) {
    const RouteSpec& route = routes[i].value;
    const std::string path = "routers." + name + ".routes" +
                             (routes.size() > 1 ? "[" + std::to_string(i) + "]" : std::string());
    if (routes[i].wrong || route.prefix.wrong || route.via.wrong) d.tables_right = false;
    if (!route.prefix.given || route.prefix.wrong) continue;
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&route.prefix.value.prefix))
      add_by_hand(d, router, router.ipv4_routes, *v4, route, path);
    else
      add_by_hand(d, router, router.ipv6_routes, std::get<Ipv6Prefix>(route.prefix.value.prefix),
                  route, path);
  }
  router.ipv4_by_hand = router.ipv4_routes.size();
  router.ipv6_by_hand = router.ipv6_routes.size();
}

constexpr size_t kNoLink = SIZE_MAX;

// Each router's first link on its shortest paths: fewest hops, then least delay, then the link's
// name. Breadth first from the destination; a search takes as long as there are routers and pairs
// of neighbours.
class ShortestWays {
 public:
  explicit ShortestWays(const Draft& d)
      : d_(d), neighbours_(d.topology.routers.size()), rank_(d.topology.links.size()) {
    std::vector<size_t> names(rank_.size());
    std::iota(names.begin(), names.end(), size_t{0});
    std::ranges::sort(names, {}, [&](size_t l) -> std::string_view { return link(l).name; });
    for (size_t i = 0; i < names.size(); ++i) rank_[names[i]] = i;
    for (size_t l = 0; l < d.topology.links.size(); ++l) {
      const auto a = router_at(l, 0), b = router_at(l, 1);
      if (!a || !b || *a == *b) continue;
      // Seen from the destination: packets travel towards the router of this list.
      neighbours_[*b].push_back({*a, l, link(l).directions[0].delay});
      neighbours_[*a].push_back({*b, l, link(l).directions[1].delay});
    }
    // Of links between the same two routers one is the best for all paths.
    for (auto& steps : neighbours_) {
      std::ranges::sort(
          steps, {}, [&](const Step& s) { return std::tuple(s.router, s.delay, rank_[s.link]); });
      const auto same = [](const Step& a, const Step& b) { return a.router == b.router; };
      steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
    }
  }

  [[nodiscard]] std::optional<size_t> router_at(size_t l, size_t end) const {
    const auto found = d_.routers.find(link(l).ends[end].node);
    return found == d_.routers.end() ? std::nullopt : std::optional(found->second);
  }

  // By router: its first link to link `l`; kNoLink: there is no path.
  [[nodiscard]] std::vector<size_t> to_link(size_t l) const {
    std::vector<size_t> at;
    for (size_t end = 0; end < 2; ++end)
      if (const auto router = router_at(l, end)) at.push_back(*router);
    return search(at, l);
  }
  // The same to a router, whose own entry is without meaning.
  [[nodiscard]] std::vector<size_t> to_router(size_t router) const {
    return search(std::vector{router}, 0);
  }

 private:
  struct Step {
    size_t router, link;
    Nanos delay;
  };
  [[nodiscard]] const Link& link(size_t l) const { return d_.topology.links[l]; }

  // `own`: the first link of the routers in `from`, where the search begins.
  [[nodiscard]] std::vector<size_t> search(std::vector<size_t> frontier, size_t own) const {
    std::vector<size_t> via(neighbours_.size(), kNoLink), hops(neighbours_.size(), kNoLink);
    std::vector<Nanos> delay(neighbours_.size());
    for (const size_t router : frontier) {
      via[router] = own;
      hops[router] = 0;
    }
    for (size_t hop = 1; !frontier.empty(); ++hop) {
      std::vector<size_t> reached;
      for (const size_t near : frontier)
        for (const Step& step : neighbours_[near]) {
          const Nanos offer = delay[near] + step.delay;
          size_t& best = via[step.router];
          if (hops[step.router] == kNoLink) {
            hops[step.router] = hop;
            reached.push_back(step.router);
          } else if (hops[step.router] < hop || std::pair(delay[step.router], rank_[best]) <=
                                                    std::pair(offer, rank_[step.link])) {
            continue;
          }
          delay[step.router] = offer;
          best = step.link;
        }
      frontier = std::move(reached);
    }
    return via;
  }

  const Draft& d_;
  std::vector<std::vector<Step>> neighbours_;
  std::vector<size_t> rank_;  // of links, by name
};

// A route from the file replaces computed routes to all subnets that it covers; for a router's own
// subnet only if the length is the same.
template <class Prefix>
void add_computed(std::vector<Route<Prefix>>& table, size_t by_hand, const Prefix& subnet,
                  size_t link, bool own) {
  const bool covered = std::any_of(
      table.begin(), table.begin() + static_cast<ptrdiff_t>(by_hand), [&](const Route<Prefix>& r) {
        return covers(r.prefix, subnet) && (!own || r.prefix.length == subnet.length);
      });
  if (!covered) table.push_back({subnet, link});
}

// Computed routes of one family.
template <class Prefix>
class Computed {
 public:
  Computed(Draft& d, const ShortestWays& ways, Prefix Interface::*address,
           std::optional<Prefix> Router::*prefix, std::vector<Route<Prefix>> Router::*table)
      : d_(d), ways_(ways), address_(address), prefix_(prefix), table_(table) {
    for (const Router& router : d.topology.routers) given_.push_back((router.*table).size());
  }

  // Whether a router at the link has a prefix that covers the link's subnet: then only routers at
  // the link have a route to it.
  [[nodiscard]] bool in_prefix(size_t l) const {
    for (size_t end = 0; end < 2; ++end)
      if (const auto router = ways_.router_at(l, end)) {
        const std::optional<Prefix>& prefix = d_.topology.routers[*router].*prefix_;
        if (prefix && covers(*prefix, subnet(l))) return true;
      }
    return false;
  }

  // An upper bound of the number of routes.
  [[nodiscard]] size_t most() const {
    size_t destinations = 0;
    for (size_t l = 0; l < d_.topology.links.size(); ++l) destinations += in_prefix(l) ? 0 : 1;
    for (const Router& router : d_.topology.routers) destinations += router.*prefix_ ? 1 : 0;
    return destinations * d_.topology.routers.size();
  }

  // `via`: by router, the first link to link `l`.
  void add_link(size_t l, const std::vector<size_t>& via) {
    if (in_prefix(l)) {
      for (size_t end = 0; end < 2; ++end)
        if (const auto router = ways_.router_at(l, end)) add(*router, subnet(l), l, true);
      return;
    }
    for (size_t r = 0; r < via.size(); ++r)
      if (via[r] != kNoLink) add(r, subnet(l), via[r], via[r] == l);
  }

  // `via`: by router, the first link to router `to`.
  void add_router(size_t to, const std::vector<size_t>& via) {
    const std::optional<Prefix>& prefix = d_.topology.routers[to].*prefix_;
    for (size_t r = 0; prefix && r < via.size(); ++r)
      if (r != to && via[r] != kNoLink) add(r, *prefix, via[r], false);
  }

 private:
  [[nodiscard]] Prefix subnet(size_t l) const {
    return network(d_.topology.links[l].ends[0].*address_);
  }
  void add(size_t router, const Prefix& prefix, size_t link, bool own) {
    add_computed(d_.topology.routers[router].*table_, given_[router], prefix, link, own);
  }

  Draft& d_;
  const ShortestWays& ways_;
  Prefix Interface::*address_;
  std::optional<Prefix> Router::*prefix_;
  std::vector<Route<Prefix>> Router::*table_;
  std::vector<size_t> given_;  // number of routes from the file, by router
};

// The `fib` of router `index`.
void place_fib(Draft& d, size_t index) {
  const Field<FibSpec>& fib = d.file.routers.value[index].value.fib;
  if (fib.wrong) return;
  // Linux changes routes: its router has such tables in any case.
  if (!fib.given && !d.file.routers.value[index].value.control.given) return;
  d.topology.routers[index].fib = {.ipv4 = fib.value.ipv4.value, .ipv6 = fib.value.ipv6.value};
}

}  // namespace

std::optional<size_t> neighbour_link(const Draft& d, const Router& router, const std::string& via) {
  const auto v4 = parse_ipv4(via);
  const auto v6 = parse_ipv6(via);
  for (const size_t i : router.links) {
    const Link& link = d.topology.links[i];
    const Interface& neighbour = link.ends[link.ends[0].node == router.name ? 1 : 0];
    if (link.name == via || (v4 && *v4 == neighbour.ipv4.address) ||
        (v6 && *v6 == neighbour.ipv6.address))
      return i;
  }
  return {};
}

void place_routes(Draft& d) {
  const size_t routers = d.topology.routers.size();
  for (size_t r = 0; r < routers; ++r) {
    place_by_hand(d, r);
    place_fib(d, r);
    const auto& table = d.file.routers.value[r].value.table;
    if (table.given && !table.wrong) place_table(d, r, table);
  }
  if (!d.tables_right || !d.ends_known) return;
  const ShortestWays ways(d);
  Computed<Ipv4Prefix> v4(d, ways, &Interface::ipv4, &Router::ipv4_prefix, &Router::ipv4_routes);
  Computed<Ipv6Prefix> v6(d, ways, &Interface::ipv6, &Router::ipv6_prefix, &Router::ipv6_routes);
  if (std::max(v4.most(), v6.most()) > kMaxRoutes) {
    d.tables_right = false;
    d.mistakes.add(d.file.links.at, "links",
                   "more than " + std::to_string(kMaxRoutes) +
                       " routes from all routers to all links: give routers a `prefix`");
    return;
  }
  for (size_t l = 0; l < d.topology.links.size(); ++l) {
    const bool everywhere = !v4.in_prefix(l) || !v6.in_prefix(l);
    const std::vector<size_t> via = everywhere ? ways.to_link(l) : std::vector<size_t>{};
    v4.add_link(l, via);
    v6.add_link(l, via);
  }
  for (size_t r = 0; r < routers; ++r) {
    if (!d.topology.routers[r].ipv4_prefix && !d.topology.routers[r].ipv6_prefix) continue;
    const std::vector<size_t> via = ways.to_router(r);
    v4.add_router(r, via);
    v6.add_router(r, via);
  }
}

}  // namespace turnpike::config
