// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show.h"

#include <map>
#include <string>
#include <string_view>

#include "common/config/mistakes.h"
#include "common/program/version.h"
#include "common/units/printable.h"
#include "router/program/show_tunnels.h"

namespace turnpike::router {

namespace {

/// Counts by drop reason, without those that are zero.
Json drops_of(const std::array<uint64_t, kDropReasons>& drops) {
  Json by_reason = Json::object();
  for (size_t r = 0; r < kDropReasons; ++r)
    if (drops[r] != 0) by_reason[std::string(kDropTexts[r].name)] = drops[r];
  return by_reason;
}

const config::Link& link_of(const Shown& on, size_t l) {
  return on.topology.links[on.topology.routers[on.node].links[l]];
}

const config::Direction& egress_of(const Shown& on, size_t l) {
  const config::Link& link = link_of(on, l);
  return link.directions[link.end_at(on.topology.routers[on.node].name)];
}

Json version(const Shown& on) {
  return {{"router", on.topology.routers[on.node].name},
          {"version", project_version()},
          {"commit", commit()},
          {"text", version_line("turnpike-router")},
          {"uptime_s", to_seconds(on.uptime)}};
}

Json links(const Shown& on) {
  Json rows = Json::array();
  for (size_t l = 0; l < on.snapshot.links.size(); ++l) {
    const LinkSnapshot& s = on.snapshot.links[l];
    Json row{{"link", s.name},
             {"rate_bps", s.rate.count()},
             {"law", egress_of(on, l).law.protocol},
             {"up", on.engine.link_up(l)}};
    if (l < on.sample.links.size()) {
      const LinkSample& rates = on.sample.links[l];
      row["price"] = rates.price;
      row["utilization"] = rates.utilization;
      row["tx_mbps"] = rates.tx_mbps;
      row["queue_delay_ms"] = rates.queue_delay_ms;
    }
    row["queue_bytes"] = s.queued_bytes;
    row["queue_packets"] = s.held_packets;
    row["buffer_bytes"] = s.buffer.count();
    row["rx_packets"] = s.rx_packets;
    row["tx_packets"] = s.tx_packets;
    row["tx_bytes"] = s.tx_bytes;
    row["drops"] = s.egress_drops();
    rows.push_back(std::move(row));
  }
  return {{"links", std::move(rows)}};
}

Json ports(const Shown& on) {
  Json rows = Json::array();
  const auto stats = on.engine.port_stats();
  for (size_t l = 0; l < stats.size(); ++l) {
    const PortStats& s = stats[l];
    rows.push_back({{"link", link_of(on, l).name},
                    {"port", on.engine.port_name(l)},
                    {"driver", on.engine.port_driver(l)},
                    {"offloads", on.engine.port_offloads(l)},
                    {"up", on.engine.link_up(l)},
                    {"mtu", link_of(on, l).mtu},
                    {"rx_packets", s.rx_packets},
                    {"rx_bytes", s.rx_bytes},
                    {"tx_packets", s.tx_packets},
                    {"tx_bytes", s.tx_bytes},
                    {"rx_missed", s.rx_missed},
                    {"rx_no_mbuf", s.rx_no_mbuf},
                    {"rx_errors", s.rx_errors},
                    {"tx_errors", s.tx_errors},
                    {"rx_unparked", s.rx_unparked},
                    {"rss_buckets", nullptr}});
    const PortBalancer* const balancer = on.engine.balancer();
    if (const auto buckets = balancer != nullptr ? balancer->buckets_of(l) : std::nullopt)
      rows.back()["rss_buckets"] = *buckets;
  }
  Json answer{{"ports", std::move(rows)}};
  if (const PortBalancer* const balancer = on.engine.balancer())
    answer["rss_moves"] = {{"moves", balancer->figures().moves},
                           {"buckets", balancer->figures().buckets}};
  return answer;
}

Json lcores(const Shown& on) {
  Json rows = Json::array();
  const std::vector<LcoreFigures> all = on.engine.lcores();
  for (size_t w = 0; w < all.size(); ++w) {
    const LcoreFigures& l = all[w];
    const double polled = to_seconds(l.busy + l.idle);
    uint64_t cycles = 0;
    for (const uint64_t c : l.stage_cycles) cycles += c;
    rows.push_back({{"worker", w},
                    {"lcore", l.lcore},
                    {"rx_packets", on.snapshot.received_by[w]},
                    {"busy", polled > 0 ? to_seconds(l.busy) / polled : 0},
                    {"cycles_per_packet", nullptr},
                    {"stalled_ms", to_seconds(l.stalled) * 1e3}});
    if (l.timed_packets > 0)
      rows.back()["cycles_per_packet"] =
          static_cast<double>(cycles) / static_cast<double>(l.timed_packets);
  }
  return {{"lcores", std::move(rows)}};
}

Json drops(const Shown& on) {
  Json rows = Json::array();
  for (const LinkSnapshot& s : on.snapshot.links)
    for (size_t r = 0; r < kDropReasons; ++r)
      if (s.drops[r] != 0)
        rows.push_back({{"link", s.name}, {"reason", kDropTexts[r].name}, {"packets", s.drops[r]}});
  return {{"drops", std::move(rows)},
          {"received", on.snapshot.received},
          {"originated", on.snapshot.originated},
          {"forwarded", on.snapshot.forwarded},
          {"delivered", on.snapshot.delivered},
          {"dropped", on.snapshot.dropped()},
          {"held", on.snapshot.held}};
}

Json customers(const Shown& on) {
  Json rows = Json::array();
  for (const CustomerSnapshot& c : on.engine.router().customers()) {
    Json by_reason = Json::object();
    for (size_t r = 0; r < kRefusals; ++r)
      if (c.packets[r] != 0) by_reason[std::string(kRefusalNames[r])] = c.packets[r];
    rows.push_back({{"customer", c.name},
                    {"budget", c.budget.count()},
                    {"dropped", c.dropped()},
                    {"bytes", c.bytes},
                    {"reasons", std::move(by_reason)}});
  }
  Json offenders = Json::array();
  for (const OffenderSnapshot& o : on.engine.router().offenders())
    offenders.push_back({{"link", o.link},
                         {"source", o.source},
                         {"owed", o.owed},
                         {"offences", o.offences},
                         {"dropped", o.dropped}});
  return {{"customers", std::move(rows)}, {"offenders", std::move(offenders)}};
}

Json tunnels(const Shown& on) { return show_tunnels(on.engine.gateway()); }

tl::expected<Json, Failure> law(const Json& request, const Shown& on) {
  const std::string name = request.value("link", "");
  std::vector<std::string_view> known;
  for (size_t l = 0; l < on.snapshot.links.size(); ++l) {
    const LinkSnapshot& s = on.snapshot.links[l];
    known.push_back(s.name);
    if (s.name != name) continue;
    Json gauges = Json::object();
    for (const Gauge& g : s.gauges) gauges[std::string(g.name)] = g.value;
    return Json{{"link", s.name},
                {"law", egress_of(on, l).law.protocol},
                {"stamped", s.stamped},
                {"drops", drops_of(s.drops)},
                {"gauges", std::move(gauges)}};
  }
  return tl::unexpected(Failure{"unknown_link", "the router has no link '" + printable(name, 60) +
                                                    "'" + config::suggestion(name, known)});
}

}  // namespace

tl::expected<Json, Failure> show(const Json& request, const Shown& on) {
  static const std::map<std::string_view, Json (*)(const Shown&)> kAnswers{
      {"version", version}, {"links", links},         {"ports", ports},    {"lcores", lcores},
      {"drops", drops},     {"customers", customers}, {"tunnels", tunnels}};
  const std::string what = request.value("what", "");
  if (what == "law") return law(request, on);
  if (const auto at = kAnswers.find(what); at != kAnswers.end()) return at->second(on);
  std::vector<std::string_view> known{"law"};
  for (const auto& [name, answer] : kAnswers) known.push_back(name);
  return tl::unexpected(Failure{"unknown_what", "there is no '" + printable(what, 40) +
                                                    "' to show" + config::suggestion(what, known)});
}

}  // namespace turnpike::router
