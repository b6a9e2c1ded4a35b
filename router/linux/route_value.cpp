// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/route_value.h"

#include <algorithm>
#include <cstring>

#include "common/config/address.h"

namespace turnpike::router {
namespace {

/// Mixes 64-bit words (the finaliser of SplitMix64).
class Mixer {
 public:
  Mixer& add(uint64_t word) {
    hash_ += 0x9e3779b97f4a7c15 + word;
    hash_ = (hash_ ^ hash_ >> 30) * 0xbf58476d1ce4e5b9;
    hash_ = (hash_ ^ hash_ >> 27) * 0x94d049bb133111eb;
    hash_ ^= hash_ >> 31;
    return *this;
  }
  Mixer& add(const config::Ipv6& address) {
    uint64_t words[2];
    std::memcpy(words, address.data(), sizeof words);
    return add(words[0]).add(words[1]);
  }
  /// An Address or a Gateway.
  template <class Variant>
  Mixer& add_address(const Variant& address) {
    if (const auto* v4 = std::get_if<config::Ipv4>(&address)) return add(*v4);
    if (const auto* v6 = std::get_if<config::Ipv6>(&address)) return add(*v6);
    return add(~uint64_t{0});
  }
  [[nodiscard]] size_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

constexpr config::Ipv6Prefix kLinkLocal{{0xfe, 0x80}, 10};
constexpr config::Ipv6Prefix kMulticast6{{0xff}, 8};
constexpr config::Ipv4Prefix kMulticast4{0xe0000000, 4};

}  // namespace

bool is_link_local(const Prefix& prefix) {
  const auto* v6 = std::get_if<config::Ipv6Prefix>(&prefix);
  return v6 != nullptr && config::covers(kLinkLocal, *v6);
}

bool is_multicast(const Prefix& prefix) {
  if (const auto* v4 = std::get_if<config::Ipv4Prefix>(&prefix)) {
    return config::covers(kMulticast4, *v4);
  }
  return config::covers(kMulticast6, std::get<config::Ipv6Prefix>(prefix));
}

bool is_multicast(const Address& address) {
  if (const auto* v4 = std::get_if<config::Ipv4>(&address)) {
    return config::contains(kMulticast4, *v4);
  }
  return config::contains(kMulticast6, std::get<config::Ipv6>(address));
}

bool same(const Path& a, const Path& b) {
  return a.link == b.link && a.gateway == b.gateway && a.weight == b.weight;
}

bool same(const Route& a, const Route& b) {
  return a.action == b.action && a.distance == b.distance && a.metric == b.metric &&
         std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(), b.paths.end(),
                    [](const Path& x, const Path& y) { return same(x, y); });
}

size_t RouteHash::operator()(const Route& route) const {
  Mixer mixer;
  mixer.add(uint64_t{route.metric} << 16 | uint64_t{route.distance} << 8 |
            static_cast<uint64_t>(route.action));
  for (const Path& p : route.paths) {
    mixer.add(uint64_t{p.weight} << 48 | p.link).add_address(p.gateway);
  }
  return mixer.value();
}

size_t HopsHash::operator()(const std::vector<Hop>& hops) const {
  Mixer mixer;
  for (const Hop& h : hops) {
    mixer
        .add(uint64_t{h.weight} << 48 | uint64_t{h.dead} << 33 | uint64_t{h.encapsulated} << 32 |
             h.interface)
        .add_address(h.gateway);
  }
  return mixer.value();
}

size_t AddressHash::operator()(const Address& address) const {
  return Mixer().add_address(address).value();
}

size_t PrefixHash::operator()(const config::Ipv4Prefix& prefix) const {
  return Mixer().add(uint64_t{prefix.address} << 8 | prefix.length).value();
}
size_t PrefixHash::operator()(const config::Ipv6Prefix& prefix) const {
  return Mixer().add(prefix.address).add(prefix.length).value();
}

std::string to_text(const Prefix& prefix) {
  return std::visit([](const auto& p) { return config::prefix_text(p); }, prefix);
}

std::string to_text(const Address& address) {
  if (const auto* v4 = std::get_if<config::Ipv4>(&address)) return config::ipv4_text(*v4);
  return config::ipv6_text(std::get<config::Ipv6>(address));
}

std::string_view to_text(Route::Action action) {
  switch (action) {
    case Route::Action::kForward:
      return "forward";
    case Route::Action::kLocal:
      return "local";
    case Route::Action::kBroadcast:
      return "broadcast";
    case Route::Action::kBlackhole:
      return "blackhole";
    case Route::Action::kUnreachable:
      return "unreachable";
    case Route::Action::kProhibit:
      return "prohibit";
  }
  return "?";
}

std::string to_text(const Route& route, const std::function<std::string(size_t)>& link_name) {
  std::string text(to_text(route.action));
  text += " distance " + std::to_string(route.distance) + " metric " + std::to_string(route.metric);
  const char* separator = "";
  for (const Path& p : route.paths) {
    text += separator;
    separator = ",";
    if (const auto* v4 = std::get_if<config::Ipv4>(&p.gateway)) {
      text += " via " + config::ipv4_text(*v4);
    } else if (const auto* v6 = std::get_if<config::Ipv6>(&p.gateway)) {
      text += " via " + config::ipv6_text(*v6);
    }
    text += " dev " + link_name(p.link) + " weight " + std::to_string(p.weight);
  }
  return text;
}

}  // namespace turnpike::router
