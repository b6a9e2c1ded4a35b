// SPDX-License-Identifier: BSD-3-Clause
// Builds FIBs from a topology's routes and interfaces.
#include "router/control/tables.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <set>

#include <rte_errno.h>

#include "common/config/address.h"
#include "common/config/path.h"
#include "common/protocols/registry.h"

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
struct Plan {
  std::vector<NextHop> hops;
  std::vector<std::pair<Ipv4Prefix, size_t>> ipv4;
  std::vector<std::pair<Ipv6Prefix, size_t>> ipv6;

  size_t add(const NextHop& hop) {
    hops.push_back(hop);
    return hops.size() - 1;
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

/// A link's subnet: kNoNeighbour, except for broadcast addresses, the neighbour and the router.
void plan_subnet(Plan& plan, const config::Interface& own, const config::Interface& peer,
                 size_t forward, uint16_t index) {
  using Action = NextHop::Action;
  const size_t empty = plan.add({.action = Action::kNoNeighbour, .link = index});
  const size_t broadcast = plan.add({.action = Action::kBroadcast, .link = index});
  const size_t local = plan.add({.action = Action::kLocal, .link = index});
  if (own.ipv4.address != 0) {
    const Ipv4Prefix net = config::network(own.ipv4);
    plan.ipv4.emplace_back(net, empty);
    if (net.length <= 30) {  // RFC 3021: a /31 has no broadcast address
      const uint32_t hosts = 0xffffffffU >> net.length;
      plan.ipv4.emplace_back(Ipv4Prefix{net.address, 32}, broadcast);
      plan.ipv4.emplace_back(Ipv4Prefix{net.address | hosts, 32}, broadcast);
    }
    if (peer.ipv4.address != 0) plan.ipv4.emplace_back(Ipv4Prefix{peer.ipv4.address, 32}, forward);
    plan.ipv4.emplace_back(Ipv4Prefix{own.ipv4.address, 32}, local);
  }
  if (given(own.ipv6.address)) {
    plan.ipv6.emplace_back(config::network(own.ipv6), empty);
    if (given(peer.ipv6.address))
      plan.ipv6.emplace_back(Ipv6Prefix{peer.ipv6.address, 128}, forward);
    plan.ipv6.emplace_back(Ipv6Prefix{own.ipv6.address, 128}, local);
  }
}

/// Groups of 256 entries (tbl8) that DIR24_8 needs: one per /24 that holds a longer prefix.
uint32_t ipv4_groups(const Plan& plan) {
  std::set<uint32_t> blocks;
  for (const auto& [p, hop] : plan.ipv4)
    if (p.length > 24) blocks.insert(p.address >> 8);
  return static_cast<uint32_t>(blocks.size()) + 1;
}

/// The trie needs at most one group per prefix and byte beyond the first 24 bits.
uint32_t ipv6_groups(const Plan& plan) {
  uint32_t n = 1;
  for (const auto& [p, hop] : plan.ipv6)
    if (p.length > 24) n += static_cast<uint32_t>((p.length - 24 + 7) / 8);
  return n;
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

/// An entry of two bytes has 15 bits for a group or a next hop.
constexpr uint32_t kMaxInTwoBytes = (1U << 15) - 1;

}  // namespace

tl::expected<std::unique_ptr<const Tables>, std::string> Tables::build(
    const config::Topology& topology, size_t router, int socket) {
  const config::Router& node = topology.routers[router];
  std::unique_ptr<Tables> t(new Tables);
  t->udp_port_ = topology.run.udp_port;
  for (const Protocol& p : protocols()) t->congestion_sizes_[p.id] = p.header_size;

  Plan plan;
  plan.add({});  // default of lookups without a match
  std::vector<size_t> forward(node.links.size());
  for (size_t i = 0; i < node.links.size(); ++i) {
    const config::Link& link = topology.links[node.links[i]];
    const size_t end = link.end_at(node.name);
    const config::Interface& own = link.ends[end];
    forward[i] = plan.add(hop_over(link, end, i));
    t->stations_.push_back({own.mac, own.ipv4, own.ipv6, link_local_of(own.mac), link.mtu});
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
    const size_t hop =
        plan.add({.action = NextHop::Action::kTree, .link = static_cast<uint16_t>(index)});
    plan.ipv4.emplace_back(Ipv4Prefix{tree.ipv4, 32}, hop);
    t->trees_.push_back(entry_of(topology, i));
    tree_hops.push_back({hop_of(branch->upstream)});
    for (const size_t link : branch->children) tree_hops.back().push_back(hop_of(link));
  }
  for (const auto& r : node.ipv4_routes)
    plan.ipv4.emplace_back(config::network(r.prefix), hop_of(r.link));
  for (const auto& r : node.ipv6_routes)
    plan.ipv6.emplace_back(config::network(r.prefix), hop_of(r.link));
  for (size_t i = 0; i < node.links.size(); ++i) {
    const config::Link& link = topology.links[node.links[i]];
    const size_t end = link.end_at(node.name);
    plan_subnet(plan, link.ends[end], link.ends[1 - end], forward[i], static_cast<uint16_t>(i));
  }
  std::ranges::sort(t->own_ipv4_);
  std::ranges::sort(t->own_ipv6_);
  t->fill_filter();

  // Next hops have 15 bits. The object's address makes the name unique in the process.
  char name[64];
  std::snprintf(name, sizeof name, "routes4-%p", static_cast<void*>(t.get()));
  rte_fib_conf conf4{};
  conf4.type = RTE_FIB_DIR24_8;
  conf4.max_routes = static_cast<int>(plan.ipv4.size()) + 1;
  conf4.dir24_8.num_tbl8 = ipv4_groups(plan);
  conf4.dir24_8.nh_sz =
      conf4.dir24_8.num_tbl8 < kMaxInTwoBytes ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B;
  t->ipv4_.reset(rte_fib_create(name, socket, &conf4));
  std::snprintf(name, sizeof name, "routes6-%p", static_cast<void*>(t.get()));
  rte_fib6_conf conf6{};
  conf6.type = RTE_FIB6_TRIE;
  conf6.max_routes = static_cast<int>(plan.ipv6.size()) + 1;
  conf6.trie.num_tbl8 = ipv6_groups(plan);
  conf6.trie.nh_sz = conf6.trie.num_tbl8 < kMaxInTwoBytes ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B;
  t->ipv6_.reset(rte_fib6_create(name, socket, &conf6));
  if (!t->ipv4_ || !t->ipv6_)
    return tl::unexpected("no memory for the routing tables of " + node.name + " (" +
                          rte_strerror(rte_errno) + ")");
  if (plan.hops.size() >= 1U << 15)
    return tl::unexpected(node.name + " has more links than the routing tables support");

  for (const auto& [p, hop] : plan.ipv4)
    if (rte_fib_add(t->ipv4_.get(), p.address, p.length, hop) != 0)
      return tl::unexpected("cannot add route " + config::prefix_text(p) + " of " + node.name);
  for (const auto& [p, hop] : plan.ipv6)
    if (fib6_add(t->ipv6_.get(), p.address, p.length, hop) != 0)
      return tl::unexpected("cannot add route " + config::prefix_text(p) + " of " + node.name);
  t->hops_ = std::move(plan.hops);
  for (size_t i = 0; i < tree_hops.size(); ++i) {
    t->trees_[i].upstream = &t->hops_[tree_hops[i].front()];
    for (size_t c = 1; c < tree_hops[i].size(); ++c)
      t->trees_[i].children.push_back(&t->hops_[tree_hops[i][c]]);
  }
  return t;
}

void Tables::fill_filter() {
  const size_t bits = std::bit_ceil(64 * std::max<size_t>(own_ipv4_.size() + own_ipv6_.size(), 1));
  own_shift_ = 64 - static_cast<unsigned>(std::countr_zero(bits));
  own_filter_.assign(bits / 64, 0);
  const auto mark = [&](uint64_t bit) { own_filter_[bit / 64] |= uint64_t{1} << (bit % 64); };
  for (const uint32_t a : own_ipv4_) mark(filter_bit(a));
  for (const Ipv6& a : own_ipv6_) mark(filter_bit(a));
}

void Tables::find(std::span<const uint32_t> addresses, const NextHop** out) const {
  uint64_t found[kMaxLookup];
  const auto n = static_cast<int>(addresses.size());
  // The library takes a pointer to mutable addresses but only reads them.
  rte_fib_lookup_bulk(ipv4_.get(), const_cast<uint32_t*>(addresses.data()), found, n);
  for (size_t i = 0; i < addresses.size(); ++i) out[i] = &hops_[found[i]];
}

void Tables::find(std::span<const config::Ipv6> addresses, const NextHop** out) const {
  uint64_t found[kMaxLookup];
  fib6_lookup(ipv6_.get(), addresses, found);
  for (size_t i = 0; i < addresses.size(); ++i) out[i] = &hops_[found[i]];
}

const NextHop& Tables::find(uint32_t address) const {
  const NextHop* hop = hops_.data();
  find(std::span(&address, 1), &hop);
  return *hop;
}

const NextHop& Tables::find(const config::Ipv6& address) const {
  const NextHop* hop = hops_.data();
  find(std::span(&address, 1), &hop);
  return *hop;
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
