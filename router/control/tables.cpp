// SPDX-License-Identifier: BSD-3-Clause
// Builds FIBs from a topology's routes and interfaces.
#include "router/control/tables.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <map>

#include "common/config/address.h"
#include "common/config/path.h"
#include "common/protocols/registry.h"
#include "router/control/feasible_paths.h"

namespace turnpike::router {

namespace {

using config::Ipv4Prefix;
using config::Ipv6;
using config::Ipv6Prefix;

Ipv6 link_local_of(const wire::Mac& m) {
  return {0xfe, 0x80, 0,    0,    0,    0,    0,   0, static_cast<uint8_t>(m[0] ^ 2),
          m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]};
}

/// All entries of the FIBs; later entries of a prefix replace earlier ones.
struct TablePlan {
  std::vector<NextHop> hops;
  std::vector<FibEntry<Ipv4Prefix>> ipv4;
  std::vector<FibEntry<Ipv6Prefix>> ipv6;

  uint32_t add(const NextHop& hop) {
    hops.push_back(hop);
    return static_cast<uint32_t>(hops.size() - 1);
  }

  /// Notes in each entry's next hop the links by which its prefix may arrive, too.
  template <class Prefix>
  void add_feasible(const FeasiblePaths& paths, std::vector<FibEntry<Prefix>>& entries) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> copies;
    for (auto& e : entries) {
      const uint32_t set = paths.set_of(e.prefix);
      if (set == 0) continue;
      const auto [copy, fresh] = copies.emplace(std::pair(e.value, set), 0);
      if (fresh) {
        NextHop hop = hops[e.value];
        hop.feasible = set;
        copy->second = add(hop);
      }
      e.value = copy->second;
    }
  }
};

NextHop hop_over(const config::Link& link, size_t own_end, size_t index) {
  return {.action = NextHop::Action::kForward,
          .link = static_cast<uint16_t>(index),
          .mtu = link.mtu,
          .overhead = static_cast<uint32_t>(link.directions[own_end].overhead.count()),
          .macs = {link.ends[1 - own_end].mac, link.ends[own_end].mac}};
}

bool given(const Ipv6& a) { return a != Ipv6{}; }

/// A link's subnet: `others`, except for broadcast addresses, the neighbour and the router.
void plan_subnet(TablePlan& plan, const config::Interface& own, const config::Interface& peer,
                 uint32_t forward, uint16_t index, NextHop::Action others) {
  using Action = NextHop::Action;
  const uint32_t empty = plan.add({.action = others, .link = index});
  const uint32_t broadcast = plan.add({.action = Action::kBroadcast, .link = index});
  const uint32_t local = plan.add({.action = Action::kLocal, .link = index});
  if (own.ipv4.address != 0) {
    const Ipv4Prefix net = config::network(own.ipv4);
    plan.ipv4.push_back({net, empty});
    if (net.length <= 30) {  // RFC 3021: a /31 has no broadcast address
      const uint32_t hosts = 0xffffffffU >> net.length;
      plan.ipv4.push_back({Ipv4Prefix{net.address, 32}, broadcast});
      plan.ipv4.push_back({Ipv4Prefix{net.address | hosts, 32}, broadcast});
    }
    if (peer.ipv4.address != 0) plan.ipv4.push_back({Ipv4Prefix{peer.ipv4.address, 32}, forward});
    plan.ipv4.push_back({Ipv4Prefix{own.ipv4.address, 32}, local});
  }
  if (given(own.ipv6.address)) {
    plan.ipv6.push_back({config::network(own.ipv6), empty});
    if (given(peer.ipv6.address))
      plan.ipv6.push_back({Ipv6Prefix{peer.ipv6.address, 128}, forward});
    plan.ipv6.push_back({Ipv6Prefix{own.ipv6.address, 128}, local});
  }
}

/// A tree's entry without its next hops.
TreeEntry entry_of(const config::Topology& topology, size_t index) {
  // Beyond the longest round trip, time for queues and for the sender's retransmission time-out.
  constexpr Nanos kMinTimeout = 1_s;
  const config::Tree& tree = topology.trees[index];
  const config::Interface& root = topology.interface_of(topology.hosts[tree.root]);
  TreeEntry e{.root4 = root.ipv4.address,
              .group4 = tree.ipv4,
              .root6 = root.ipv6.address,
              .group6 = tree.ipv6,
              .upstream = nullptr,
              .children = {}};
  for (const config::Flow& f : topology.flows)
    if (f.tree == index) e.flows += f.count;
  Nanos longest{0};
  for (const size_t to : tree.receivers)
    longest = std::max(longest, config::round_trip(topology, tree.root, to));
  e.timeout = kMinTimeout + std::min(longest, 10_s) * 4;
  return e;
}

}  // namespace

tl::expected<std::unique_ptr<const Tables>, std::string> Tables::build(
    const config::Topology& topology, size_t router, int socket, With with, FibKind kind) {
  const config::Router& node = topology.routers[router];
  std::unique_ptr<Tables> t(new Tables);
  t->udp_port_ = topology.run.udp_port;
  for (const Protocol& p : protocols()) t->congestion_sizes_[p.id] = p.header_size;

  TablePlan plan;
  plan.add({});  // default of lookups without a match
  std::vector<uint32_t> forward(node.links.size());
  for (size_t i = 0; i < node.links.size(); ++i) {
    const config::Link& link = topology.links[node.links[i]];
    const size_t end = link.end_at(node.name);
    const config::Interface& own = link.ends[end];
    forward[i] = plan.add(hop_over(link, end, i));
    t->stations_.push_back(
        {own.mac, own.ipv4, own.ipv6, link_local_of(own.mac), link.mtu, own.tagged_port});
    if (own.ipv4.address != 0) t->own_ipv4_.push_back(own.ipv4.address);
    if (given(own.ipv6.address)) t->own_ipv6_.push_back(own.ipv6.address);
  }
  const auto hop_of = [&](size_t link) {
    const auto at = std::find(node.links.begin(), node.links.end(), link);
    return forward[static_cast<size_t>(at - node.links.begin())];
  };
  // By tree: upstream, then the children.
  std::vector<std::vector<size_t>> tree_hops;
  for (size_t i = 0; i < topology.trees.size(); ++i) {
    const config::Tree& tree = topology.trees[i];
    const auto branch = std::ranges::find(tree.branches, router, &config::Branch::router);
    if (branch == tree.branches.end()) continue;
    const size_t index = t->trees_.size();
    const uint32_t hop =
        plan.add({.action = NextHop::Action::kTree, .link = static_cast<uint16_t>(index)});
    plan.ipv4.push_back({{tree.ipv4, 32}, hop});
    t->trees_.push_back(entry_of(topology, i));
    tree_hops.push_back({hop_of(branch->upstream)});
    for (const size_t link : branch->children) tree_hops.back().push_back(hop_of(link));
  }
  for (const auto& r : node.ipv4_routes)
    plan.ipv4.push_back({config::network(r.prefix), hop_of(r.link)});
  for (const auto& r : node.ipv6_routes)
    plan.ipv6.push_back({config::network(r.prefix), hop_of(r.link)});
  // Linux knows neighbours that the file does not.
  const auto others =
      node.linux_control ? NextHop::Action::kUnresolved : NextHop::Action::kNoNeighbour;
  for (size_t i = 0; i < node.links.size(); ++i) {
    const config::Link& link = topology.links[node.links[i]];
    const size_t end = link.end_at(node.name);
    plan_subnet(plan, link.ends[end], link.ends[1 - end], forward[i], static_cast<uint16_t>(i),
                others);
  }
  if (std::ranges::any_of(node.links, [&](size_t l) {
        const config::Link& link = topology.links[l];
        return link.directions[1 - link.end_at(node.name)].source_check ==
               config::SourceCheck::kFeasible;
      })) {
    const FeasiblePaths paths(topology, router);
    plan.add_feasible(paths, plan.ipv4);
    plan.add_feasible(paths, plan.ipv6);
    t->feasible_ = paths.sets();
  }
  std::ranges::sort(t->own_ipv4_);
  std::ranges::sort(t->own_ipv6_);
  t->fill_filter();

  if (with == With::kNoRoutes) {
    plan.ipv4.clear();
    plan.ipv6.clear();
  }
  // The object's address makes the name unique in the process.
  char name[32];
  std::snprintf(name, sizeof name, "r-%p", static_cast<void*>(t.get()));
  auto fib = Fib::build(name, plan.ipv4, plan.ipv6, socket, kind);
  if (!fib) return tl::unexpected("routing tables of " + node.name + ": " + fib.error());
  t->routes_ = Routes(std::move(*fib), std::move(plan.hops));
  for (size_t i = 0; i < tree_hops.size(); ++i) {
    t->trees_[i].upstream = &t->routes_.hop(tree_hops[i].front());
    for (size_t c = 1; c < tree_hops[i].size(); ++c)
      t->trees_[i].children.push_back(&t->routes_.hop(tree_hops[i][c]));
  }
  return t;
}

void Tables::fill_filter() {
  const size_t bits = std::bit_ceil(64 * std::max<size_t>(own_ipv4_.size() + own_ipv6_.size(), 1));
  own_shift_ = 64 - static_cast<unsigned>(std::countr_zero(bits));
  own_filter_.assign(bits / 64, 0);
  const auto mark = [&](uint64_t bit) { own_filter_[bit / 64] |= uint64_t{1} << (bit % 64); };
  for (const uint32_t a : own_ipv4_) {
    mark(filter_bit(a));
    own_hashes_ |= uint32_t{1} << own_hash(a);
  }
  for (const Ipv6& a : own_ipv6_) {
    mark(filter_bit(a));
    own_hashes6_ |= uint64_t{1} << (halves_of(a) * kGolden >> kOwnShift6);
  }
}

size_t Tables::find_tree(uint32_t group) const {
  const auto at = std::ranges::find(trees_, group, &TreeEntry::group4);
  return static_cast<size_t>(at - trees_.begin());
}

size_t Tables::find_tree(const config::Ipv6& group) const {
  const auto at = std::ranges::find(trees_, group, &TreeEntry::group6);
  return static_cast<size_t>(at - trees_.begin());
}

bool Tables::own(uint32_t address) const {
  return may_be_own(address) && std::ranges::binary_search(own_ipv4_, address);
}

bool Tables::own(const config::Ipv6& address) const {
  return may_be_own(address) && std::ranges::binary_search(own_ipv6_, address);
}

}  // namespace turnpike::router
