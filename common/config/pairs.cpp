// SPDX-License-Identifier: BSD-3-Clause
#include "common/config/pairs.h"

#include <algorithm>

namespace turnpike::config {

std::optional<size_t> Pairs::host(const Field<std::string>& field, const std::string& path) {
  if (field.wrong || d_.file.hosts.wrong) return {};
  const auto found = d_.hosts.find(field.value);
  if (found != d_.hosts.end()) return found->second;
  if (d_.routers.contains(field.value))
    d_.mistakes.add(field.at, path, "'" + field.value + "' is a router: flows run between hosts");
  else if (d_.trees.contains(field.value))
    d_.mistakes.add(field.at, path, "'" + field.value + "' is a tree: only flows run to trees");
  else
    d_.mistakes.add(
        field.at, path,
        "there is no host '" + field.value + "'" + suggestion(field.value, d_.host_names));
  return {};
}

void Pairs::check_played(size_t h, Position at, const std::string& path) {
  const Host& host = d_.topology.hosts[h];
  if (host.external)
    d_.mistakes.add(at, path, "'" + host.name + "' is external: the sender does not emulate it");
}

// The path between two hosts by the routing tables; by the graph if the tables have mistakes.
std::vector<Hop> Pairs::way(size_t from, size_t to, unsigned version) {
  return d_.tables_right && d_.ends_known ? paths_.path(from, to, version) : graph_.path(from, to);
}

std::optional<uint16_t> Pairs::mtu(size_t from, size_t to, const Field<IpVersion>& version,
                                   Position at, const std::string& path, const std::string& entry) {
  const Host& a = d_.topology.hosts[from];
  if (from == to) {
    d_.mistakes.add(at, path, "'" + a.name + "' would send to itself");
    return {};
  }
  if (!d_.placed[from] || !d_.placed[to]) return {};  // reported already
  const unsigned number = version.value.number;
  const auto [known, fresh] = known_.emplace(std::tuple(from, to, number), uint16_t{0});
  if (fresh) known->second = examine(from, to, number);
  const uint16_t mtu = known->second;
  if (mtu == 0) {
    complain_unreachable(from, to, at, path);
    return {};
  }
  check_ipv6(mtu, version, entry);
  return mtu;
}

std::optional<uint16_t> Pairs::all(const std::vector<size_t>& from, const std::vector<size_t>& to,
                                   const Field<IpVersion>& version, Position at,
                                   const std::string& entry) {
  const bool placed = std::ranges::all_of(d_.placed, [](bool host) { return host; });
  if (!placed || !d_.tables_right || !d_.ends_known) return {};  // reported already
  std::vector<size_t> hosts = from;
  hosts.insert(hosts.end(), to.begin(), to.end());
  AllPairs pairs(d_.topology, hosts, version.value.number, d_.threads);
  const AllPairs::Found found = pairs.examine(from, to, d_.round_trips);
  for (const auto& [a, b] : found.unreachable) complain_unreachable(a, b, at, entry + ".to");
  if (!found.unreachable.empty()) return {};
  check_ipv6(found.mtu, version, entry);
  return found.mtu;
}

void Pairs::complain_unreachable(size_t from, size_t to, Position at, const std::string& path) {
  if (d_.ends_known)
    d_.mistakes.add(at, path,
                    "no path from '" + d_.topology.hosts[from].name + "' to '" +
                        d_.topology.hosts[to].name +
                        "' and back: a link or route is missing or wrong");
}

void Pairs::check_ipv6(unsigned mtu, const Field<IpVersion>& version, const std::string& entry) {
  if (version.value.number == 6 && mtu < kMinIpv6Mtu)
    d_.mistakes.add(version.at, entry + ".ip_version",
                    "IPv6 needs an MTU of 1280 B on the whole path, here it is " +
                        std::to_string(mtu) + " B (RFC 8200, 5)");
}

// Returns the smallest MTU in B on the path there, 0 without a path. Updates every link's longest
// round trip.
uint16_t Pairs::examine(size_t from, size_t to, unsigned version) {
  const auto there = way(from, to, version), back = way(to, from, version);
  if (there.empty() || back.empty()) return 0;
  const Nanos round = propagation(d_.topology, there) + propagation(d_.topology, back);
  uint16_t mtu = UINT16_MAX;
  for (const Hop& hop : there) mtu = std::min(mtu, d_.topology.links[hop.link].mtu);
  for (const auto* path : {&there, &back})
    for (const Hop& hop : *path) {
      Nanos& longest = d_.round_trips[hop.link][hop.direction];
      longest = std::max(longest, round);
    }
  return mtu;
}

}  // namespace turnpike::config
