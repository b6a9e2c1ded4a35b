// SPDX-License-Identifier: BSD-3-Clause
// Routing tables: routes from the file, and the shortest path to every other subnet.
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "common/config/address.h"
#include "common/config/draft.h"
#include "common/config/given_routes.h"

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
void add_by_hand(Draft& d, Router& router, std::vector<Route<Prefix>>& table,
                 std::set<PrefixKey<Prefix>>& known, const Prefix& prefix, const RouteSpec& spec,
                 const std::string& path) {
  if (network(prefix).address != prefix.address)
    d.mistakes.add(spec.prefix.at, path + ".prefix",
                   "bits beyond the prefix length are set (did you mean '" +
                       prefix_text(network(prefix)) + "'?)");
  const Prefix key = network(prefix);
  if (known.contains({key.address, key.length}))
    d.mistakes.add(spec.prefix.at, path + ".prefix", prefix_text(key) + " has a route already");
  if (spec.via.wrong) return;
  if (const auto link = link_via(d, router, spec.via, path + ".via")) {
    table.push_back({key, *link, static_cast<uint8_t>(spec.distance.value)});
    known.emplace(key.address, key.length);
  }
}

void place_by_hand(Draft& d, size_t index) {
  Router& router = d.topology.routers[index];
  const auto& [name, at, spec] = d.file.routers.value[index];
  const auto& routes = spec.routes.value.items;
  std::set<PrefixKey<Ipv4Prefix>> known_v4;
  std::set<PrefixKey<Ipv6Prefix>> known_v6;
  for (size_t i = 0; i < routes.size(); ++i) {
    const RouteSpec& route = routes[i].value;
    const std::string path = "routers." + name + ".routes" +
                             (routes.size() > 1 ? "[" + std::to_string(i) + "]" : std::string());
    if (routes[i].wrong || route.prefix.wrong || route.via.wrong) d.tables_right = false;
    if (!route.prefix.given || route.prefix.wrong) continue;
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&route.prefix.value.prefix))
      add_by_hand(d, router, router.ipv4_routes, known_v4, *v4, route, path);
    else
      add_by_hand(d, router, router.ipv6_routes, known_v6,
                  std::get<Ipv6Prefix>(route.prefix.value.prefix), route, path);
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
      : d_(d),
        neighbours_(d.topology.routers.size()),
        rank_(d.topology.links.size()),
        routers_at_(d.topology.links.size()) {
    std::vector<size_t> names(rank_.size());
    std::iota(names.begin(), names.end(), size_t{0});
    std::ranges::sort(names, {}, [&](size_t l) -> std::string_view { return link(l).name; });
    for (size_t i = 0; i < names.size(); ++i) rank_[names[i]] = i;
    for (size_t l = 0; l < d.topology.links.size(); ++l) {
      for (const Interface& end : link(l).ends)
        if (const auto found = d.routers.find(end.node); found != d.routers.end())
          routers_at_[l].push_back(found->second);
      if (routers_at_[l].size() < 2 || routers_at_[l][0] == routers_at_[l][1]) continue;
      const size_t a = routers_at_[l][0], b = routers_at_[l][1];
      // Seen from the destination: packets travel towards the router of this list.
      neighbours_[b].push_back({a, l, link(l).directions[0].delay});
      neighbours_[a].push_back({b, l, link(l).directions[1].delay});
    }
    // Of links between the same two routers one is the best for all paths.
    for (auto& steps : neighbours_) {
      std::ranges::sort(
          steps, {}, [&](const Step& s) { return std::tuple(s.router, s.delay, rank_[s.link]); });
      const auto same = [](const Step& a, const Step& b) { return a.router == b.router; };
      steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
    }
  }

  [[nodiscard]] const std::vector<size_t>& routers_at(size_t l) const { return routers_at_[l]; }

  // By router: its first link to link `l`; kNoLink: there is no path.
  [[nodiscard]] std::vector<size_t> to_link(size_t l) const { return search(routers_at_[l], l); }
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
  std::vector<size_t> rank_;                     // of links, by name
  std::vector<std::vector<size_t>> routers_at_;  // by link
};

// Computed routes of one family.
template <class Prefix>
class Computed {
 public:
  Computed(Draft& d, const ShortestWays& ways, std::vector<GivenRoutes<Prefix>> given,
           Prefix Interface::*address, std::optional<Prefix> Router::*prefix,
           std::vector<Route<Prefix>> Router::*table)
      : d_(d), given_(std::move(given)), prefix_(prefix), table_(table), own_(given_.size()) {
    next_own_.resize(given_.size());
    for (size_t l = 0; l < d.topology.links.size(); ++l) {
      subnets_.push_back(network(d.topology.links[l].ends[0].*address));
      in_prefix_.push_back(std::ranges::any_of(ways.routers_at(l), [&](size_t router) {
        const std::optional<Prefix>& mine = d.topology.routers[router].*prefix;
        return mine && covers(*mine, subnets_[l]);
      }));
      if (in_prefix_[l])
        for (const size_t router : ways.routers_at(l)) own_[router].push_back(l);
    }
    destinations_ = static_cast<size_t>(std::ranges::count(in_prefix_, false));
    for (const Router& router : d.topology.routers) destinations_ += router.*prefix ? 1 : 0;
  }

  // Whether a router at the link has a prefix that covers the link's subnet: then only routers at
  // the link have a route to it.
  [[nodiscard]] bool in_prefix(size_t l) const { return in_prefix_[l]; }

  // An upper bound of the number of routes.
  [[nodiscard]] size_t most() const { return destinations_ * given_.size(); }

  // The functions below add routes to the table of router `r` alone. Threads may call them at the
  // same time for different routers.

  void begin(size_t r) const {
    std::vector<Route<Prefix>>& table = d_.topology.routers[r].*table_;
    table.reserve(table.size() + destinations_ + own_[r].size());
  }
  // By the first link `via` to link `l`, which is greater than in the calls before.
  void add_link(size_t r, size_t l, size_t via) {
    add_own(r, l);
    if (!in_prefix_[l] && via != kNoLink) add(r, subnets_[l], via, via == l);
  }
  // To links below `end` that are in the prefix of a router at the link.
  void add_own(size_t r, size_t end) {
    for (size_t& i = next_own_[r]; i < own_[r].size() && own_[r][i] < end; ++i)
      add(r, subnets_[own_[r][i]], own_[r][i], true);
  }
  // By the first link `via` to router `to`.
  void add_router(size_t r, size_t to, size_t via) {
    const std::optional<Prefix>& prefix = d_.topology.routers[to].*prefix_;
    if (prefix && r != to && via != kNoLink) add(r, *prefix, via, false);
  }

 private:
  // A route from the file replaces computed routes to all subnets that it covers; for a router's
  // own subnet only if the length is the same.
  void add(size_t r, const Prefix& subnet, size_t link, bool own) {
    if (own ? given_[r].has(subnet) : given_[r].covers(subnet)) return;
    (d_.topology.routers[r].*table_).push_back({subnet, link});
  }

  Draft& d_;
  std::vector<GivenRoutes<Prefix>> given_;  // by router
  std::optional<Prefix> Router::*prefix_;
  std::vector<Route<Prefix>> Router::*table_;
  std::vector<Prefix> subnets_;           // by link
  std::vector<bool> in_prefix_;           // by link
  size_t destinations_ = 0;               // that all routers have routes to
  std::vector<std::vector<size_t>> own_;  // by router: links at it that are in a prefix
  std::vector<size_t> next_own_;          // by router: of these, the first without a route yet
};

// The `fib` of router `index`.
void place_fib(Draft& d, size_t index) {
  const Field<FibSpec>& fib = d.file.routers.value[index].value.fib;
  if (fib.wrong) return;
  // Linux changes routes: its router has such tables in any case.
  if (!fib.given && !d.file.routers.value[index].value.control.given) return;
  d.topology.routers[index].fib = {.ipv4 = fib.value.ipv4.value, .ipv6 = fib.value.ipv6.value};
}

// The routes that the file gives, by router.
struct FileRoutes {
  std::vector<GivenRoutes<Ipv4Prefix>> v4;
  std::vector<GivenRoutes<Ipv6Prefix>> v6;
};

// Adds the routes of all `table` files.
FileRoutes place_tables(Draft& d) {
  const size_t routers = d.topology.routers.size();
  FileRoutes given;
  given.v4.resize(routers);
  given.v6.resize(routers);
  std::vector<std::vector<Mistake>> wrong(routers);
  d.threads.for_each(routers, [&](size_t r) {
    Router& router = d.topology.routers[r];
    const Field<std::string>& table = d.file.routers.value[r].value.table;
    const bool has_table = table.given && !table.wrong;
    if (has_table) wrong[r] = read_table(d, router, table);
    given.v4[r] = GivenRoutes<Ipv4Prefix>(router.ipv4_routes);
    given.v6[r] = GivenRoutes<Ipv6Prefix>(router.ipv6_routes);
    if (has_table && (given.v4[r].has_twice() || given.v6[r].has_twice()))
      wrong[r].push_back(
          {d.mistakes.file(), table.at.line, table.at.column, "routers." + router.name + ".table",
           "a prefix has two routes, both in '" + router.table + "' or one of them in 'routes'"});
  });
  for (std::vector<Mistake>& mistakes : wrong)
    for (Mistake& m : mistakes) {
      d.tables_right = false;
      d.mistakes.add(std::move(m));
    }
  return given;
}

// Calls add(router, destination, first link) for all routers and destinations. `search` finds the
// first links to one. Threads search for many destinations at the same time, then add these to many
// routers at the same time; a router gets them in their order.
void for_each_way(const Draft& d, const std::vector<size_t>& destinations, const auto& search,
                  const auto& add) {
  constexpr size_t kAtOnce = 256;  // their first links take 20 MB with 10,000 routers
  std::vector<std::vector<size_t>> via(kAtOnce);
  for (size_t first = 0; first < destinations.size(); first += kAtOnce) {
    const size_t n = std::min(kAtOnce, destinations.size() - first);
    d.threads.for_each(n, [&](size_t i) { via[i] = search(destinations[first + i]); });
    d.threads.for_each(d.topology.routers.size(), [&](size_t r) {
      for (size_t i = 0; i < n; ++i) add(r, destinations[first + i], via[i][r]);
    });
  }
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
  }
  FileRoutes given = place_tables(d);
  if (!d.tables_right || !d.ends_known) return;
  const ShortestWays ways(d);
  Computed<Ipv4Prefix> v4(d, ways, std::move(given.v4), &Interface::ipv4, &Router::ipv4_prefix,
                          &Router::ipv4_routes);
  Computed<Ipv6Prefix> v6(d, ways, std::move(given.v6), &Interface::ipv6, &Router::ipv6_prefix,
                          &Router::ipv6_routes);
  if (std::max(v4.most(), v6.most()) > kMaxRoutes) {
    d.tables_right = false;
    d.mistakes.add(d.file.links.at, "links",
                   "more than " + std::to_string(kMaxRoutes) +
                       " routes from all routers to all links: give routers a `prefix`");
    return;
  }
  std::vector<size_t> links, with_prefix;  // that other routers have routes to
  for (size_t l = 0; l < d.topology.links.size(); ++l)
    if (!v4.in_prefix(l) || !v6.in_prefix(l)) links.push_back(l);
  for (size_t r = 0; r < routers; ++r)
    if (d.topology.routers[r].ipv4_prefix || d.topology.routers[r].ipv6_prefix)
      with_prefix.push_back(r);
  d.threads.for_each(routers, [&](size_t r) {
    v4.begin(r);
    v6.begin(r);
  });
  for_each_way(
      d, links, [&](size_t l) { return ways.to_link(l); },
      [&](size_t r, size_t l, size_t via) {
        v4.add_link(r, l, via);
        v6.add_link(r, l, via);
      });
  d.threads.for_each(routers, [&](size_t r) {
    v4.add_own(r, d.topology.links.size());
    v6.add_own(r, d.topology.links.size());
  });
  for_each_way(
      d, with_prefix, [&](size_t to) { return ways.to_router(to); },
      [&](size_t r, size_t to, size_t via) {
        v4.add_router(r, to, via);
        v6.add_router(r, to, via);
      });
}

}  // namespace turnpike::config
