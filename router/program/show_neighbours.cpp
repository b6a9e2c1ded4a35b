// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show_neighbours.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <linux/neighbour.h>

#include "common/config/address.h"
#include "router/linux/route_value.h"

namespace turnpike::router {
namespace {

constexpr size_t kMaxNeighbours = 1000;

struct Row {
  std::string link;
  Address address;
  const config::Mac* mac;  // null: unknown
  std::string_view state;
  Json age = nullptr;  // s
};

/// As `ip neighbour` names them.
std::string_view state_name(uint16_t state) {
  constexpr std::array<std::pair<uint16_t, std::string_view>, 8> kNames{{
      {NUD_INCOMPLETE, "incomplete"},
      {NUD_REACHABLE, "reachable"},
      {NUD_STALE, "stale"},
      {NUD_DELAY, "delay"},
      {NUD_PROBE, "probe"},
      {NUD_FAILED, "failed"},
      {NUD_NOARP, "noarp"},
      {NUD_PERMANENT, "permanent"},
  }};
  for (const auto& [bit, name] : kNames)
    if ((state & bit) != 0) return name;
  return "none";
}

void add_from_file(const ShownRoutes& on, std::vector<Row>& rows) {
  const config::Router& self = on.topology.routers[on.node];
  for (const size_t l : self.links) {
    const config::Link& link = on.topology.links[l];
    const config::Interface& peer = link.ends[1 - link.end_at(self.name)];
    const auto add = [&](const Address& address) {
      rows.push_back({.link = link.name, .address = address, .mac = &peer.mac, .state = "file"});
    };
    if (peer.ipv4.address != 0) add(peer.ipv4.address);
    if (peer.ipv6.address != config::Ipv6{}) add(peer.ipv6.address);
  }
}

void add_from_linux(const ShownRoutes& on, Nanos now, std::vector<Row>& rows) {
  const config::Router& self = on.topology.routers[on.node];
  on.linux_control->reader().state().neighbours().for_each([&](const KernelNeighbours::Shown& n) {
    rows.push_back({.link = on.topology.links[self.links[n.link]].name,
                    .address = n.address,
                    .mac = n.mac,
                    .state = state_name(n.state),
                    .age = to_seconds(now - n.since)});
  });
}

}  // namespace

Json show_neighbours(const Json& request, const ShownRoutes& on, Nanos now) {
  std::vector<Row> rows;
  if (on.linux_control != nullptr) {
    add_from_linux(on, now, rows);
  } else {
    add_from_file(on, rows);
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.link, a.address) < std::tie(b.link, b.address);
  });
  const size_t listed = std::min(rows.size(), request.value("limit", kMaxNeighbours));
  Json list = Json::array();
  for (size_t i = 0; i < listed; ++i) {
    const Row& r = rows[i];
    list.push_back({{"address", to_text(r.address)},
                    {"mac", r.mac != nullptr ? Json(config::mac_text(*r.mac)) : Json(nullptr)},
                    {"link", r.link},
                    {"state", r.state},
                    {"age_s", r.age}});
  }
  const Snapshot snapshot = on.router.snapshot();
  return {{"neighbours", std::move(list)},
          {"all", rows.size()},
          {"waiting_packets", snapshot.punt ? snapshot.punt->waiting : 0}};
}

}  // namespace turnpike::router
