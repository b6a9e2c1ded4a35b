// SPDX-License-Identifier: BSD-3-Clause
#include "lab/machines/place.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <variant>

namespace turnpike::lab {
namespace {

constexpr std::string_view kSsh = "ssh:", kLocal = "local";

/// Names the kind of attachment that joins two ends within a machine; empty: it reaches others.
std::string local_only(const config::Attachment& a) {
  if (std::holds_alternative<config::AttachMemif>(a)) return "memif";
  if (std::holds_alternative<config::AttachRing>(a)) return "a ring";
  return "";
}

std::string between_machines(const config::Link& link, const std::string& how) {
  std::string text = "link " + link.name;
  text.append(" joins ").append(link.ends[0].node).append(" and ").append(link.ends[1].node);
  text.append(" by ").append(how);
  return text + ", which cannot reach another machine: attach its ends to interfaces";
}

}  // namespace

tl::expected<Placement, std::string> Placement::parse(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return tl::unexpected("'" + std::string(text) + "' " + why);
  };
  const size_t equals = text.find('=');
  const std::string_view where = text.substr(0, equals);
  if (equals == std::string_view::npos || (where != kLocal && !where.starts_with(kSsh)))
    return wrong("is not ssh:HOST=NODE,NODE or local=NODE,NODE");
  Placement p;
  if (where != kLocal) {
    p.host = where.substr(kSsh.size());
    // ssh takes a host that begins with a hyphen as an option.
    if (p.host.empty() || p.host.front() == '-' ||
        p.host.find_first_of("/ \t\n") != std::string::npos)
      return wrong("has no host that ssh can reach");
  }
  std::istringstream nodes{std::string(text.substr(equals + 1))};
  for (std::string node; std::getline(nodes, node, ',');)
    if (!node.empty()) p.nodes.push_back(node);
  if (p.nodes.empty()) return wrong("names no node");
  return p;
}

tl::expected<std::vector<Place>, std::vector<std::string>> place_nodes(
    const config::Topology& t, const std::vector<Placement>& placements) {
  std::vector<std::string> mistakes;
  std::map<std::string, std::string> host_of;  // by node
  std::vector<Place> places;
  const auto place = [&](const std::string& host) -> Place& {
    const auto at = std::ranges::find(places, host, &Place::host);
    return at != places.end() ? *at : places.emplace_back(Place{.host = host});
  };
  const auto known = [&](const std::string& node) {
    const auto host = std::ranges::find(t.hosts, node, &config::Host::name);
    return std::ranges::find(t.routers, node, &config::Router::name) != t.routers.end() ||
           (host != t.hosts.end() && !host->external);
  };
  for (const Placement& p : placements) {
    place(p.host);
    for (const std::string& node : p.nodes) {
      if (!known(node))
        mistakes.push_back("there is no router or host '" + node + "' to run");
      else if (!host_of.emplace(node, p.host).second)
        mistakes.push_back("'" + node + "' is placed twice");
    }
  }
  for (const config::Router& r : t.routers) place(host_of[r.name]).routers.push_back(r.name);
  for (const config::Host& h : t.hosts)
    if (!h.external) place(host_of[h.name]).hosts.push_back(h.name);
  if (std::ranges::all_of(places, [](const Place& p) { return p.hosts.empty(); }))
    mistakes.emplace_back("no host of the file can be run: start turnpike-router for its routers");
  for (const config::Link& link : t.links) {
    const std::string &a = link.ends[0].node, &b = link.ends[1].node;
    const std::string how = local_only(link.ends[0].attachment);
    if (!how.empty() && host_of[a] != host_of[b]) mistakes.push_back(between_machines(link, how));
  }
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return places;
}

}  // namespace turnpike::lab
