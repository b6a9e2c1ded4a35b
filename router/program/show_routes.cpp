// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show_routes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/config/address.h"
#include "common/units/printable.h"
#include "router/linux/route_value.h"

namespace turnpike::router {

namespace {

constexpr size_t kMaxRoutes = 1000;

std::string link_name(const ShownRoutes& on, size_t link) {
  const auto& links = on.topology.routers[on.node].links;
  return link < links.size() ? on.topology.links[links[link]].name : "?";
}

Json path_json(const Path& path, const ShownRoutes& on) {
  Json j{{"link", link_name(on, path.link)}};
  if (const auto* ipv4 = std::get_if<config::Ipv4>(&path.gateway))
    j["via"] = to_text(Address(*ipv4));
  if (const auto* ipv6 = std::get_if<config::Ipv6>(&path.gateway))
    j["via"] = to_text(Address(*ipv6));
  if (path.weight != 1) j["weight"] = path.weight;
  return j;
}

/// "via 10.0.1.2 on l1, via 10.0.2.2 on l2 weight 3".
std::string paths_text(const Route& route, const ShownRoutes& on) {
  std::string text;
  for (const Path& path : route.paths) {
    const Json j = path_json(path, on);
    text += (text.empty() ? "" : ", ") +
            (j.contains("via") ? "via " + j["via"].get<std::string>() + " " : std::string()) +
            "on " + link_name(on, path.link) +
            (path.weight != 1 ? " weight " + std::to_string(path.weight) : "");
  }
  return text;
}

Json route_json(const Prefix& prefix, const Route& route, bool in_fib, const ShownRoutes& on) {
  Json paths = Json::array();
  for (const Path& path : route.paths) paths.push_back(path_json(path, on));
  return {{"prefix", to_text(prefix)},
          {"action", to_text(route.action)},
          {"distance", route.distance},
          {"metric", route.metric},
          {"paths", std::move(paths)},
          {"next_hops", paths_text(route, on)},
          {"in_fib", in_fib}};
}

/// Whether one prefix contains the other.
template <class P>
bool overlap(P a, P b) {
  const uint8_t length = std::min(a.length, b.length);
  a.length = b.length = length;
  return config::network(a).address == config::network(b).address;
}

bool overlap(const Prefix& a, const Prefix& b) {
  if (a.index() != b.index()) return false;
  if (const auto* ipv4 = std::get_if<config::Ipv4Prefix>(&a))
    return overlap(*ipv4, std::get<config::Ipv4Prefix>(b));
  return overlap(std::get<config::Ipv6Prefix>(a), std::get<config::Ipv6Prefix>(b));
}

/// Of routes that the file gives by hand or in a table.
bool in_file(const Prefix& prefix, const config::Router& router) {
  const auto among = [&](const auto& routes, size_t count, const auto& wanted) {
    return std::any_of(routes.begin(), routes.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const auto& r) {
                         const auto given = config::network(r.prefix);
                         return given.length == wanted.length && given.address == wanted.address;
                       });
  };
  if (const auto* ipv4 = std::get_if<config::Ipv4Prefix>(&prefix))
    return among(router.ipv4_routes, router.ipv4_by_hand + router.ipv4_in_table, *ipv4);
  return among(router.ipv6_routes, router.ipv6_by_hand + router.ipv6_in_table,
               std::get<config::Ipv6Prefix>(prefix));
}

tl::expected<Json, Failure> compare(const ShownRoutes& on) {
  if (on.linux_control == nullptr)
    return tl::unexpected(Failure{"no_kernel",
                                  "Linux is not this router's control plane: its file has "
                                  "no `control: linux`"});
  const auto comparison = on.linux_control->compare();
  if (!comparison) return tl::unexpected(Failure{"failed", comparison.error()});
  Json lines = Json::array();
  size_t configured = 0;
  for (const RouteDifference& d : comparison->differences) {
    // A route of the file serves beside Linux's, or before it.
    if (in_file(d.prefix, on.topology.routers[on.node])) {
      ++configured;
    } else {
      lines.push_back(to_text(d, on.linux_control->names()));
    }
  }
  return Json{{"kernel", comparison->kernel},
              {"held", comparison->held},
              {"configured", configured},
              {"settled", on.linux_control->reader().settled()},
              {"differences", std::move(lines)}};
}

}  // namespace

tl::expected<Json, Failure> show_routes(const Json& request, const ShownRoutes& on) {
  if (request.value("diff", "") == "kernel") return compare(on);
  const RouteTable* table = on.router.routes();
  if (table == nullptr)
    return tl::unexpected(Failure{"static",
                                  "the routes of this router are those of its file, for good: "
                                  "`turnpike check` lists them"});
  std::optional<Prefix> wanted;
  if (const std::string text = request.value("prefix", ""); !text.empty()) {
    if (const auto ipv4 = config::parse_ipv4_prefix(text))
      wanted = *ipv4;
    else if (const auto ipv6 = config::parse_ipv6_prefix(text))
      wanted = *ipv6;
    else if (const auto address = config::parse_ipv4(text))
      wanted = config::Ipv4Prefix{*address, 32};
    else if (const auto address6 = config::parse_ipv6(text))
      wanted = config::Ipv6Prefix{*address6, 128};
    else
      return tl::unexpected(Failure{
          "bad_prefix", "'" + printable(text, 60) + "' is neither an address nor a prefix"});
  }
  const size_t limit = request.value("limit", kMaxRoutes);
  Json rows = Json::array();
  size_t matching = 0, all = 0;
  table->for_each([&](const Prefix& prefix, const Route& route, bool in_fib) {
    ++all;
    if (wanted && !overlap(prefix, *wanted)) return;
    if (++matching <= limit) rows.push_back(route_json(prefix, route, in_fib, on));
  });
  return Json{{"routes", std::move(rows)}, {"matching", matching}, {"all", all}};
}

tl::expected<Json, Failure> show_linux(const ShownRoutes& on) {
  if (on.linux_control == nullptr) return compare(on);  // which says so
  const ReaderCounts& c = on.linux_control->reader().counts();
  Json resyncs = Json::object();
  for (size_t r = 0; r < c.resyncs.size(); ++r)
    if (c.resyncs[r] != 0)
      resyncs[std::string(to_text(static_cast<ResyncReason>(r)))] = c.resyncs[r];
  const RouteTable::Stats s = on.router.routes()->stats();
  return Json{{"settled", on.linux_control->reader().settled()},
              {"notifications", c.notifications},
              {"overruns", c.overruns},
              {"lost", c.lost},
              {"resyncs", std::move(resyncs)},
              {"last_resync_ms", to_seconds(c.last_resync) * 1e3},
              {"receive_buffer_bytes", on.linux_control->reader().receive_buffer()},
              {"ipv4_routes", s.ipv4},
              {"ipv6_routes", s.ipv6},
              {"neighbours", s.neighbours},
              {"waiting_for_room", s.waiting},
              {"resolve_asked", c.resolve_asked},
              {"neighbours_probed", c.probed},
              {"neighbours_not_probed", c.not_probed}};
}

}  // namespace turnpike::router
