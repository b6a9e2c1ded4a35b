// SPDX-License-Identifier: BSD-3-Clause
// All prefixes that a router has routes to, with their routes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "common/config/address.h"
#include "router/control/route_sink.h"

namespace turnpike::router {

/// A route as the table keeps it, 12 B.
struct StoredRoute {
  uint8_t distance = 0;
  bool pinned = false;  // `list` is the number of a next hop that needs no path
  Route::Action action = Route::Action::kForward;
  uint32_t metric = 0;
  uint32_t list = 0;  // number of its paths in PathLists

  [[nodiscard]] bool before(const StoredRoute& o) const {
    return distance != o.distance ? distance < o.distance : metric < o.metric;
  }
};

/// One prefix.
struct PrefixState {
  std::vector<StoredRoute> routes;  // the first serves; none: it is there for a neighbour's sake
  uint32_t hop = 0;                 // number of the next hop that the FIB has; 0: not in the FIB
  bool dirty = false;               // to be computed at the next commit
  bool refused = false;             // the FIB was full
};

inline config::Ipv4 last_of(const config::Ipv4Prefix& p) {
  return p.length == 0 ? UINT32_MAX
                       : p.address | static_cast<uint32_t>((uint64_t{1} << (32 - p.length)) - 1);
}
inline config::Ipv6 last_of(const config::Ipv6Prefix& p) {
  config::Ipv6 a = p.address;
  for (size_t i = p.length / 8; i < a.size(); ++i)
    a[i] |= static_cast<uint8_t>(i == p.length / 8U ? 0xff >> p.length % 8 : 0xff);
  return a;
}

/// By prefix, without bits beyond its length. Prefixes stay where they are in memory.
template <class Prefix>
class PrefixTable {
  struct Same {
    bool operator()(const Prefix& a, const Prefix& b) const {
      return a.length == b.length && a.address == b.address;
    }
  };
  struct Hash {
    static constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
    size_t operator()(const config::Ipv4Prefix& p) const {
      return ((uint64_t{p.address} << 8 | p.length) * kMix) >> 20;
    }
    size_t operator()(const config::Ipv6Prefix& p) const {
      uint64_t halves[2];
      std::memcpy(halves, p.address.data(), sizeof halves);
      return (((halves[0] ^ p.length) * kMix ^ halves[1]) * kMix) >> 20;
    }
  };
  using Map = std::unordered_map<Prefix, PrefixState, Hash, Same>;

 public:
  using Node = typename Map::value_type;
  using PrefixAddress = decltype(Prefix::address);
  static constexpr uint8_t kMaxLength = sizeof(PrefixAddress) * 8;

  /// The prefix's state; made if there is none.
  Node& at(const Prefix& prefix) { return *map_.try_emplace(prefix).first; }
  /// Null: none.
  Node* find(const Prefix& prefix) {
    const auto at = map_.find(prefix);
    return at == map_.end() ? nullptr : &*at;
  }
  [[nodiscard]] const Node* find(const Prefix& prefix) const {
    const auto at = map_.find(prefix);
    return at == map_.end() ? nullptr : &*at;
  }
  void erase(const Prefix& prefix) { map_.erase(prefix); }

  /// Adds or replaces the route of its distance and metric; `former`: what it replaces. True: it
  /// replaced one.
  bool set(Node& node, const StoredRoute& route, StoredRoute& former) {
    auto& all = node.second.routes;
    const auto at = std::ranges::find_if(all, [&](const auto& r) { return !r.before(route); });
    if (at != all.end() && !route.before(*at)) {
      former = std::exchange(*at, route);
      return true;
    }
    if (all.empty()) ++by_length_[node.first.length];
    all.insert(at, route);
    ++routes_;
    return false;
  }
  /// Removes the route of a distance and metric. False: there was none.
  bool erase(Node& node, uint8_t distance, uint32_t metric, StoredRoute& former) {
    auto& all = node.second.routes;
    const auto at = std::ranges::find_if(
        all, [&](const auto& r) { return r.distance == distance && r.metric == metric; });
    if (at == all.end()) return false;
    former = *at;
    all.erase(at);
    --routes_;
    if (all.empty()) --by_length_[node.first.length];
    return true;
  }

  /// The longest prefix with a route that contains the address. Null: none.
  [[nodiscard]] const Node* longest(const PrefixAddress& address) const {
    for (int length = kMaxLength; length >= 0; --length) {
      if (by_length_[static_cast<size_t>(length)] == 0) continue;
      const Node* node = find(config::network(Prefix{address, static_cast<uint8_t>(length)}));
      if (node != nullptr && !node->second.routes.empty()) return node;
    }
    return nullptr;
  }

  /// The longest prefix of less than `length` bits with a value in the FIB that contains the
  /// address. Null: none.
  [[nodiscard]] const Node* longest(const PrefixAddress& address, uint8_t length) const {
    while (length-- > 0) {
      if (by_length_[length] == 0) continue;
      const Node* node = find(config::network(Prefix{address, length}));
      if (node != nullptr && node->second.hop != 0) return node;
    }
    return nullptr;
  }

  template <class F>
  void for_each(F&& f) const {
    for (const Node& node : map_) f(node);
  }
  /// Prefixes, and routes to them.
  [[nodiscard]] size_t size() const { return map_.size(); }
  [[nodiscard]] size_t routes() const { return routes_; }
  void reserve(size_t prefixes) { map_.reserve(prefixes); }

 private:
  Map map_;
  std::array<uint32_t, kMaxLength + 1> by_length_{};  // prefixes with routes
  size_t routes_ = 0;
};

}  // namespace turnpike::router
