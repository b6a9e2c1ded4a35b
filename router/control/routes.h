// SPDX-License-Identifier: BSD-3-Clause
// The routes as workers look them up: prefixes to next hops, and sets of next hops to choose from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "router/control/dir24.h"
#include "router/control/fib.h"
#include "router/control/next_hop.h"

namespace turnpike::router {

/// Next hops that share a route's flows. Each of the buckets, as many as flows can hash to, names
/// one, so that a flow moves only if its bucket does.
struct PathSet {
  static constexpr size_t kBuckets = 256;
  using Buckets = std::array<uint32_t, kBuckets>;

  Buckets buckets{};            // next hops by hash
  std::vector<uint16_t> links;  // of the next hops, sorted
};

/// A table that any number of threads look up in while none changes it. Next hops stay where they
/// are until it changes. Complete in itself: shares no memory with another one.
class Routes {
 public:
  Routes() = default;
  /// `hops[0]` is the next hop of addresses without a match.
  Routes(Fib fib, std::vector<NextHop> hops) : fib_(std::move(fib)), hops_(std::move(hops)) {}

  /// At most kMaxLookup addresses per call, IPv4 in host byte order; writes a next hop for each.
  static constexpr size_t kMaxLookup = Fib::kMaxLookup;
  void find(std::span<const uint32_t> addresses, const NextHop** out) const {
    each_hop(addresses, [out](size_t i, const NextHop& hop) { out[i] = &hop; });
  }
  void find(std::span<const config::Ipv6> addresses, const NextHop** out) const {
    each_hop(addresses, [out](size_t i, const NextHop& hop) { out[i] = &hop; });
  }
  /// The same; calls f(i, hop) for each address in order.
  template <class Address, class F>
  void each_hop(std::span<const Address> addresses, F&& f) const {
    uint64_t found[kMaxLookup];
    if constexpr (std::is_same_v<Address, uint32_t>) {
      if (dir24_) {
        dir24_.find(addresses, found);
      } else {
        fib_.find(addresses, found);
      }
    } else {
      fib_.find(addresses, found);
    }
    for (size_t i = 0; i < addresses.size(); ++i) f(i, hops_[found[i]]);
  }
  /// The same for one address of a packet that the router originates; never kPaths.
  [[nodiscard]] const NextHop& find(uint32_t address) const;
  [[nodiscard]] const NextHop& find(const config::Ipv6& address) const;

  /// The next hop of a flow with this hash. The action of `hop` must be kPaths.
  [[nodiscard]] const NextHop& choose(const NextHop& hop, uint32_t hash) const {
    return hops_[paths_[hop.id].buckets[hash % PathSet::kBuckets]];
  }
  /// Whether the next hop, or one of its paths, leaves by `link`.
  [[nodiscard]] bool leaves_by(const NextHop& hop, uint16_t link) const {
    if (hop.action != NextHop::Action::kPaths) return hop.link == link;
    return std::ranges::binary_search(paths_[hop.id].links, link);
  }
  /// Of the hashes of flows.
  [[nodiscard]] uint32_t seed() const { return seed_; }
  [[nodiscard]] const NextHop& hop(uint32_t index) const { return hops_[index]; }

  // Changes, while no thread looks up. Next hops may move.
  Fib& fib() { return fib_; }
  Dir24& dir24() { return dir24_; }
  void set_seed(uint32_t seed) { seed_ = seed; }
  void set_hop(uint32_t index, const NextHop& hop) {
    if (index >= hops_.size()) hops_.resize(index + 1);
    hops_[index] = hop;
  }
  void set_paths(uint32_t number, const PathSet& paths) {
    if (number >= paths_.size()) paths_.resize(number + 1);
    paths_[number] = paths;
  }

 private:
  Fib fib_;      // to indices of hops_
  Dir24 dir24_;  // the same of IPv4 in tables that change
  std::vector<NextHop> hops_ = std::vector<NextHop>(1);
  std::vector<PathSet> paths_;
  uint32_t seed_ = 0;
};

}  // namespace turnpike::router
