// SPDX-License-Identifier: BSD-3-Clause
// Routing tables: routes from the file, and the shortest path to every other subnet.
#include <algorithm>
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

// Each router's first link on its shortest path to one destination link.
class ShortestWays {
 public:
  explicit ShortestWays(const Draft& d) : d_(d), neighbours_(d.topology.routers.size()) {
    for (size_t i = 0; i < d.topology.links.size(); ++i) {
      const auto a = d.routers.find(d.topology.links[i].ends[0].node);
      const auto b = d.routers.find(d.topology.links[i].ends[1].node);
      if (a == d.routers.end() || b == d.routers.end() || a->second == b->second) continue;
      // Seen from the destination: packets travel towards the router of this list.
      neighbours_[b->second].push_back({a->second, i, 0});
      neighbours_[a->second].push_back({b->second, i, 1});
    }
  }

  // Breadth first: fewest hops, then least delay, then the link's name.
  std::vector<std::optional<size_t>> to(size_t destination) const {
    std::vector<std::optional<size_t>> via(neighbours_.size());
    std::vector<Nanos> delay(neighbours_.size());
    std::vector<size_t> frontier;
    for (const Interface& end : d_.topology.links[destination].ends)
      if (const auto r = d_.routers.find(end.node); r != d_.routers.end()) {
        via[r->second] = destination;
        frontier.push_back(r->second);
      }
    while (!frontier.empty()) {
      std::map<size_t, std::tuple<Nanos, std::string_view, size_t>> reached;
      for (const size_t near : frontier)
        for (const Step& step : neighbours_[near]) {
          if (via[step.router]) continue;
          const Link& link = d_.topology.links[step.link];
          const std::tuple offer(delay[near] + link.directions[step.direction].delay,
                                 std::string_view(link.name), step.link);
          const auto [best, fresh] = reached.emplace(step.router, offer);
          if (!fresh) best->second = std::min(best->second, offer);
        }
      frontier.clear();
      for (const auto& [router, best] : reached) {
        delay[router] = std::get<0>(best);
        via[router] = std::get<2>(best);
        frontier.push_back(router);
      }
    }
    return via;
  }

 private:
  struct Step {
    size_t router, link, direction;
  };
  const Draft& d_;
  std::vector<std::vector<Step>> neighbours_;
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
  for (size_t l = 0; l < d.topology.links.size(); ++l) {
    const auto via = ways.to(l);
    const Link& link = d.topology.links[l];
    for (size_t r = 0; r < routers; ++r) {
      if (!via[r]) continue;
      Router& router = d.topology.routers[r];
      const bool own = *via[r] == l;
      add_computed(router.ipv4_routes, router.ipv4_by_hand + router.ipv4_in_table,
                   network(link.ends[0].ipv4), *via[r], own);
      add_computed(router.ipv6_routes, router.ipv6_by_hand + router.ipv6_in_table,
                   network(link.ends[0].ipv6), *via[r], own);
    }
  }
}

}  // namespace turnpike::config
