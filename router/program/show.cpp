// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/config/mistakes.h"
#include "common/program/platform.h"
#include "common/program/version.h"
#include "common/units/printable.h"
#include "router/program/platform_record.h"
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

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json ports(const Shown& on) {
  Json rows = Json::array(), extended = Json::array();
  const std::vector<PortFigures> all = on.engine.ports();
  const std::vector<PortFacts> facts = on.engine.port_facts();
  const PortBalancer* const balancer = on.engine.balancer();
  for (size_t l = 0; l < all.size(); ++l) {
    const PortFigures& p = all[l];
    const PortStats& s = p.stats;
    const PauseFrames pause = pause_frames(p.extended);
    Json row{{"link", p.link}, {"port", p.device}, {"up", p.up}};
    row.update(port_json(facts[l]));
    row.erase("device");              // is "port"
    row["mtu"] = link_of(on, l).mtu;  // memif's driver states less than it carries
    row.update({{"flow_control", p.flow_control ? Json(name_of(*p.flow_control)) : Json()},
                {"rx_packets", s.rx_packets},
                {"rx_bytes", s.rx_bytes},
                {"tx_packets", s.tx_packets},
                {"tx_bytes", s.tx_bytes},
                {"rx_missed", s.rx_missed},
                {"rx_no_mbuf", s.rx_no_mbuf},
                {"rx_errors", s.rx_errors},
                {"tx_errors", s.tx_errors},
                {"rx_unparked", s.rx_unparked},
                {"rss_buckets", nullptr},
                {"pause_received", or_null(pause.received)},
                {"pause_sent", or_null(pause.sent)},
                {"extended_statistics_omitted", p.omitted}});
    for (const ExtendedStat& e : p.extended)
      extended.push_back({{"link", p.link}, {"statistic", e.name}, {"value", e.value}});
    if (const auto buckets = balancer != nullptr ? balancer->buckets_of(l) : std::nullopt)
      row["rss_buckets"] = *buckets;
    rows.push_back(std::move(row));
  }
  Json answer{{"ports", std::move(rows)}, {"extended_statistics", std::move(extended)}};
  if (balancer != nullptr)
    answer["rss_moves"] = {{"moves", balancer->figures().moves},
                           {"buckets", balancer->figures().buckets}};
  return answer;
}

Json lcores(const Shown& on) {
  return {{"lcores", lcores_json(on.engine.lcores(), on.snapshot.received_by)}};
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
