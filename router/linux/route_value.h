// SPDX-License-Identifier: BSD-3-Clause
// Routes, prefixes and addresses as values: equality, hashes and text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "router/linux/messages.h"

namespace turnpike::router {

bool same(const Route& a, const Route& b);
bool same(const Path& a, const Path& b);

struct SameRoute {
  bool operator()(const Route& a, const Route& b) const { return same(a, b); }
};
struct RouteHash {
  size_t operator()(const Route& route) const;
};
struct HopsHash {
  size_t operator()(const std::vector<Hop>& hops) const;
};
struct AddressHash {
  size_t operator()(const Address& address) const;
};
struct PrefixHash {
  size_t operator()(const config::Ipv4Prefix& prefix) const;
  size_t operator()(const config::Ipv6Prefix& prefix) const;
};
struct SamePrefix {
  bool operator()(const config::Ipv4Prefix& a, const config::Ipv4Prefix& b) const {
    return a.address == b.address && a.length == b.length;
  }
  bool operator()(const config::Ipv6Prefix& a, const config::Ipv6Prefix& b) const {
    return a.address == b.address && a.length == b.length;
  }
};

bool is_link_local(const Prefix& prefix);  // fe80::/10
bool is_multicast(const Prefix& prefix);
bool is_multicast(const Address& address);

std::string to_text(const Prefix& prefix);
std::string to_text(const Address& address);
/// "forward", "local", "blackhole", ...
std::string_view to_text(Route::Action action);
/// "distance 20 metric 5 via 10.0.0.2 dev port0 weight 3, ...": `link_name` names a link by its
/// index.
std::string to_text(const Route& route, const std::function<std::string(size_t)>& link_name);

}  // namespace turnpike::router
