// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/route_table.h"

#include <algorithm>

#include "common/config/address.h"

namespace turnpike::router {

namespace {

bool link_local(const config::Ipv4&) { return false; }
/// fe80::/10 (RFC 4291 2.5.6): the same address on several links is several neighbours.
bool link_local(const config::Ipv6& a) { return a[0] == 0xfe && (a[1] & 0xc0) == 0x80; }

}  // namespace

tl::expected<std::unique_ptr<RouteTable>, std::string> RouteTable::make(Options options) {
  auto quiescence = Quiescence::make(options.workers, options.socket);
  if (!quiescence) return tl::unexpected(std::string("no memory for quiescent states"));
  auto copies =
      RouteCopies::make(options.name, options.capacity, options.socket, options.seed, *quiescence);
  if (!copies) return tl::unexpected(copies.error());
  std::unique_ptr<RouteTable> t(new RouteTable(std::move(quiescence), std::move(*copies),
                                               std::move(options.links), options.capacity));
  t->commit();  // the next hops that always exist
  return t;
}

bool RouteTable::valid(std::vector<Path>& paths) {
  const size_t wrong =
      std::erase_if(paths, [&](const Path& p) { return p.link >= hops_.links() || p.weight == 0; });
  invalid_ += wrong > 0;
  return wrong == 0 || !paths.empty();
}

void RouteTable::set_route(const Prefix& prefix, Route route) {
  if (!valid(route.paths) || (route.paths.empty() && route.action == Route::Action::kForward)) {
    erase_route(prefix, route.distance, route.metric);  // rather than to keep what was replaced
    return;
  }
  const StoredRoute stored{.distance = route.distance,
                           .action = route.action,
                           .metric = route.metric,
                           .list = lists_.take(std::move(route.paths))};
  std::visit([&](const auto& p) { add(config::network(p), stored); }, prefix);
}

void RouteTable::pin(const config::Ipv4Prefix& prefix, const NextHop& hop) {
  add(config::network(prefix), {.pinned = true, .list = hops_.add(hop)});
}

template <class P>
void RouteTable::add(const P& prefix, const StoredRoute& route) {
  auto& family = of(prefix);
  auto& node = family.table.at(prefix);
  StoredRoute former;
  if (family.table.set(node, route, former)) forget(former);
  mark(family, node);
  mark_neighbours(prefix);
}

void RouteTable::erase_route(const Prefix& prefix, uint8_t distance, uint32_t metric) {
  std::visit(
      [&](const auto& given) {
        const auto p = config::network(given);
        auto& family = of(p);
        auto* node = family.table.find(p);
        StoredRoute former;
        if (node == nullptr || !family.table.erase(*node, distance, metric, former)) return;
        forget(former);
        mark(family, *node);
        mark_neighbours(p);
      },
      prefix);
}

void RouteTable::set_neighbour(size_t link, const Address& address, const config::Mac& mac) {
  if (link >= hops_.links()) return void(++invalid_);
  hops_.set_neighbour(link, address, mac);
  mark_host(address);
}

void RouteTable::erase_neighbour(size_t link, const Address& address) {
  if (link >= hops_.links()) return void(++invalid_);
  hops_.erase_neighbour(link, address);
  mark_host(address);
}

void RouteTable::forget(const StoredRoute& route) {
  if (route.pinned) {
    hops_.release(route.list);
  } else {
    lists_.release(route.list);
  }
}

template <class P>
void RouteTable::mark(Family<P>& family, typename Family<P>::Node& node) {
  if (node.second.dirty) return;
  node.second.dirty = true;
  family.dirty.push_back(&node);
}

void RouteTable::mark_host(const Address& address) {
  std::visit(
      [&](const auto& a) {
        using P = std::conditional_t<std::is_same_v<std::decay_t<decltype(a)>, config::Ipv4>,
                                     config::Ipv4Prefix, config::Ipv6Prefix>;
        if (link_local(a)) return;
        const P host{a, PrefixTable<P>::kMaxLength};
        mark(of(host), of(host).table.at(host));
      },
      address);
}

// Neighbours in a prefix may have got, or lost, the route to their link.
template <class P>
void RouteTable::mark_neighbours(const P& prefix) {
  hops_.neighbours().for_each(prefix.address, last_of(prefix),
                              [&](const auto& a) { mark_host(Address(a)); });
}

// The next hop that a prefix should have, with a reference unless it is none.
template <class P>
uint32_t RouteTable::take_hop(const typename Family<P>::Node& node) {
  const auto& [prefix, state] = node;
  const bool host = prefix.length == PrefixTable<P>::kMaxLength;
  if (state.routes.empty()) {
    const auto* cover = host ? of(prefix).table.longest(prefix.address) : nullptr;
    return cover == nullptr ? NextHops::kNoRoute
                            : take_neighbour(cover->second.routes.front(), prefix.address);
  }
  const StoredRoute& route = state.routes.front();
  const auto held = [&](uint32_t number) {
    hops_.hold(number);
    return number;
  };
  if (route.pinned) return held(route.list);
  const std::vector<Path>& paths = lists_[route.list];
  const size_t link = paths.empty() ? 0 : paths.front().link;
  switch (route.action) {
    case Route::Action::kForward:
      break;
    case Route::Action::kLocal:
      return held(hops_.local(link));
    case Route::Action::kBroadcast:
      return held(hops_.broadcast(link));
    case Route::Action::kBlackhole:
      return held(NextHops::kBlackhole);
    case Route::Action::kUnreachable:
      return held(NextHops::kUnreachable);
    case Route::Action::kProhibit:
      return held(NextHops::kProhibit);
  }
  if (host)
    if (const uint32_t hop = take_neighbour(route, prefix.address); hop != NextHops::kNoRoute)
      return hop;
  if (paths.size() > 1) return groups_.take(route.list, state.hop);
  Via via{.link = link, .gateway = paths.front().gateway};
  if (host && via.gateway.index() == 0) via.gateway = prefix.address;
  return hops_.take(via);
}

// The next hop of a neighbour's own address, with a reference, if a path of its route leads to the
// link it is on; else none.
template <class A>
uint32_t RouteTable::take_neighbour(const StoredRoute& route, const A& address) {
  if (route.pinned || route.action != Route::Action::kForward) return NextHops::kNoRoute;
  for (const Path& p : lists_[route.list])
    if (p.gateway.index() == 0 && hops_.neighbours().find(p.link, address) != nullptr)
      return hops_.take({.link = p.link, .gateway = address});
  return NextHops::kNoRoute;
}

template <class P>
void RouteTable::compute(Family<P>& family, Changes<P>& changes) {
  for (auto* node : std::exchange(family.dirty, {})) {
    PrefixState& state = node->second;
    state.dirty = false;
    uint32_t hop = take_hop<P>(*node);
    if (hop != state.hop) {
      changes.push_back(
          {.prefix = node->first, .value = hop, .added = state.hop == NextHops::kNoRoute});
      std::swap(state.hop, hop);
    }
    if (hop != NextHops::kNoRoute) groups_.release(hop);
    if (state.hop == NextHops::kNoRoute && state.routes.empty()) family.table.erase(node->first);
  }
}

template <class P>
RouteTable::Changes<P> RouteTable::collect(Family<P>& family) {
  Changes<P> changes;
  compute(family, changes);
  // Each prefix that goes may make room for one that waits.
  auto room = static_cast<size_t>(
      std::ranges::count(changes, uint32_t{NextHops::kNoRoute}, &Change<P>::value));
  while (room > 0 && !family.waiting.empty()) {
    auto* node = family.table.find(family.waiting.back());
    family.waiting.pop_back();
    if (node == nullptr || !std::exchange(node->second.refused, false)) continue;
    mark(family, *node);
    --room;
  }
  compute(family, changes);
  changes_ += changes.size();
  return changes;
}

template <class P>
void RouteTable::refuse(Family<P>& family, const P& prefix) {
  PrefixState& state = family.table.find(prefix)->second;
  groups_.release(std::exchange(state.hop, NextHops::kNoRoute));
  ++refused_;
  if (!std::exchange(state.refused, true)) family.waiting.push_back(prefix);
}

// Removals first, so that a batch may replace a full table.
Dir24Index::Writes RouteTable::writes_for(const Changes<config::Ipv4Prefix>& changes) {
  Dir24Index::Writes writes;
  writes.reserve(changes.size());
  for (const auto& c : changes)
    if (c.value == NextHops::kNoRoute) index_.erase(c.prefix, writes);
  for (const auto& c : changes) {
    if (c.value == NextHops::kNoRoute) continue;
    if (!c.added) {
      index_.replace(c.prefix, c.value, writes);
    } else if (!index_.add(c.prefix, c.value, writes)) {
      refuse(ipv4_, c.prefix);
      index_.refuse(c.prefix, writes);
    }
  }
  return writes;
}

void RouteTable::commit() {
  copies_->catch_up();
  RouteBatch batch;
  const auto ipv4 = collect(ipv4_);
  for (const auto& c : collect(ipv6_)) batch.ipv6.push_back({c.prefix, c.value});
  batch.hops = hops_.take_changes();
  batch.paths = groups_.take_changes();
  batch.ipv4 = writes_for(ipv4);
  if (batch.empty()) return;
  ++commits_;
  const Refused refused = copies_->publish(std::move(batch), [this] {
    std::vector<FibEntry<config::Ipv6Prefix>> all;
    ipv6_.table.for_each([&](const auto& node) {
      if (node.second.hop != NextHops::kNoRoute) all.push_back({node.first, node.second.hop});
    });
    return all;
  });
  for (const config::Ipv6Prefix& p : refused) refuse(ipv6_, p);
}

void RouteTable::for_each(const Visitor& visit) const {
  const auto each = [&](const auto& node) {
    if (node.second.routes.empty() || node.second.routes.front().pinned) return;
    const StoredRoute& r = node.second.routes.front();
    const Route route{
        .action = r.action, .distance = r.distance, .metric = r.metric, .paths = lists_[r.list]};
    visit(node.first, route, node.second.hop != NextHops::kNoRoute);
  };
  ipv4_.table.for_each(each);
  ipv6_.table.for_each(each);
}

template <class P>
size_t RouteTable::waiting(const Family<P>& family) {
  return static_cast<size_t>(std::ranges::count_if(family.waiting, [&](const P& p) {
    const auto* node = family.table.find(p);
    return node != nullptr && !node->second.routes.empty() &&
           node->second.hop == NextHops::kNoRoute;
  }));
}

RouteTable::Stats RouteTable::stats() const {
  return {.ipv4 = ipv4_.table.routes(),
          .ipv6 = ipv6_.table.routes(),
          .hops = hops_.size(),
          .groups = groups_.size(),
          .neighbours = hops_.neighbours().size(),
          .waiting = waiting(ipv4_) + waiting(ipv6_),
          .refused = refused_,
          .invalid = invalid_,
          .commits = commits_,
          .changes = changes_,
          .rebuilds = copies_->rebuilds(),
          .differences = copies_->differences()};
}

}  // namespace turnpike::router
