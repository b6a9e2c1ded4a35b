// SPDX-License-Identifier: BSD-3-Clause
// The prefixes that a router has routes to, sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/config/address.h"

namespace turnpike::config {

/// Orders prefixes; equal if the prefixes are.
template <class Prefix>
using PrefixKey = std::pair<decltype(Prefix::address), uint8_t>;

/// Takes the logarithm of their number to find one, and 8 or 17 B each.
template <class Prefix>
class GivenRoutes {
 public:
  GivenRoutes() = default;
  /// `routes`: without bits beyond the prefixes' lengths.
  explicit GivenRoutes(const std::vector<Route<Prefix>>& routes) {
    keys_.reserve(routes.size());
    for (const auto& r : routes) keys_.emplace_back(r.prefix.address, r.prefix.length);
    std::ranges::sort(keys_);
  }

  /// Whether one prefix has two routes.
  [[nodiscard]] bool has_twice() const { return std::ranges::adjacent_find(keys_) != keys_.end(); }
  [[nodiscard]] bool has(const Prefix& prefix) const {
    return std::ranges::binary_search(keys_, PrefixKey<Prefix>(prefix.address, prefix.length));
  }
  /// Whether a route's prefix holds all of `subnet`.
  [[nodiscard]] bool covers(const Prefix& subnet) const {
    if (keys_.empty()) return false;
    for (uint8_t length = 0; length <= subnet.length; ++length)
      if (has(network(Prefix{subnet.address, length}))) return true;
    return false;
  }

 private:
  std::vector<PrefixKey<Prefix>> keys_;
};

}  // namespace turnpike::config
