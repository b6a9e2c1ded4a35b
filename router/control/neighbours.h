// SPDX-License-Identifier: BSD-3-Clause
// The neighbours on a router's links, with their MAC addresses.
#pragma once

#include <map>
#include <utility>

#include "router/control/route_sink.h"

namespace turnpike::router {

/// Ordered by address, so that those in a prefix are found together.
class Neighbours {
 public:
  /// False: it was there already with this MAC address.
  bool set(size_t link, const Address& address, const config::Mac& mac) {
    return std::visit(
        [&](const auto& a) {
          const auto [at, fresh] = of(a).emplace(std::pair(a, link), mac);
          if (!fresh && at->second == mac) return false;
          at->second = mac;
          return true;
        },
        address);
  }
  /// False: it was not there.
  bool erase(size_t link, const Address& address) {
    return std::visit([&](const auto& a) { return of(a).erase(std::pair(a, link)) > 0; }, address);
  }

  template <class A>
  [[nodiscard]] const config::Mac* find(size_t link, const A& address) const {
    const auto at = of(address).find(std::pair(address, link));
    return at == of(address).end() ? nullptr : &at->second;
  }

  /// Calls f(address) for every address from `first` to `last`, once per link.
  template <class A, class F>
  void for_each(const A& first, const A& last, F&& f) const {
    const auto& all = of(first);
    for (auto at = all.lower_bound(std::pair(first, size_t{0}));
         at != all.end() && at->first.first <= last; ++at)
      f(at->first.first);
  }

  [[nodiscard]] size_t size() const { return ipv4_.size() + ipv6_.size(); }

 private:
  template <class A>
  using Of = std::map<std::pair<A, size_t>, config::Mac>;

  Of<config::Ipv4>& of(const config::Ipv4&) { return ipv4_; }
  Of<config::Ipv6>& of(const config::Ipv6&) { return ipv6_; }
  [[nodiscard]] const Of<config::Ipv4>& of(const config::Ipv4&) const { return ipv4_; }
  [[nodiscard]] const Of<config::Ipv6>& of(const config::Ipv6&) const { return ipv6_; }

  Of<config::Ipv4> ipv4_;  // by address and link
  Of<config::Ipv6> ipv6_;
};

}  // namespace turnpike::router
