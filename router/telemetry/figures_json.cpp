// SPDX-License-Identifier: BSD-3-Clause
#include "router/telemetry/figures_json.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "router/telemetry/largest.h"

namespace turnpike::router {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxTunnels = 100;  // of a gateway's customers: more than a screen has lines

/// The counts that are not zero, by name.
template <class Names, class Counts, class NameOf>
Json by_name(const Names& names, const Counts& counts, NameOf name_of) {
  Json out = Json::object();
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) out[std::string(name_of(names[i]))] = counts[i];
  return out;
}

constexpr auto kAsIs = [](std::string_view name) { return name; };

Json link_json(const Figures& f, size_t l) {
  const LinkSnapshot& s = f.counters.links[l];
  Json gauges = Json::object();
  for (const Gauge& g : s.gauges) gauges[std::string(g.name)] = g.value;
  Json row{{"link", s.name},
           {"rate_bps", s.rate.count()},
           {"price", gauges.value("price", 0.)},
           {"queue_bytes", s.queued_bytes},
           {"queue_packets", s.held_packets},
           {"buffer_bytes", s.buffer.count()},
           {"rx_packets", s.rx_packets},
           {"rx_bytes", s.rx_bytes},
           {"tx_packets", s.tx_packets},
           {"tx_bytes", s.tx_bytes},
           {"offered_bytes", s.offered_bytes},
           {"stamped", s.stamped},
           {"drops", by_name(kDropTexts, s.drops, [](const DropText& t) { return t.name; })},
           {"gauges", std::move(gauges)}};
  if (l < f.waits.size())
    row["delay_s"] = {{"p50", static_cast<double>(f.waits[l].quantile(0.5)) * 1e-9},
                      {"p99", static_cast<double>(f.waits[l].quantile(0.99)) * 1e-9}};
  if (l < f.ports.size()) {
    const PortFigures& p = f.ports[l];
    row["port"] = {{"device", p.device},
                   {"up", p.up},
                   {"missed", p.stats.rx_missed},
                   {"no_mbuf", p.stats.rx_no_mbuf},
                   {"rx_errors", p.stats.rx_errors},
                   {"tx_errors", p.stats.tx_errors},
                   {"unparked", p.stats.rx_unparked}};
  }
  return row;
}

Json lcore_json(const Figures& f, size_t w) {
  const LcoreFigures& l = f.lcores[w];
  Json cycles = Json::object();
  for (size_t s = 0; s < kStages; ++s) cycles[std::string(kStageNames[s])] = l.stage_cycles[s];
  return {{"worker", w},
          {"lcore", l.lcore},
          {"rx_packets", w < f.counters.received_by.size() ? f.counters.received_by[w] : 0},
          {"busy_s", to_seconds(l.busy)},
          {"idle_s", to_seconds(l.idle)},
          {"stalled_s", to_seconds(l.stalled)},
          {"stalls", l.stalls},
          {"busy_polls", l.busy_polls},
          {"idle_polls", l.idle_polls},
          {"timed_packets", l.timed_packets},
          {"timed_cycles", std::move(cycles)}};
}

Json tunnel_json(const Account& a) {
  Json row{{"customer", a.customer},
           {"budget", a.budget},
           {"offered_bytes", a.offered_bytes},
           {"carried_bytes", a.carried_bytes},
           {"packets", a.packets},
           {"bytes", a.bytes},
           {"spend", a.spend},
           {"price", a.price},
           {"dropped", a.dropped},
           {"marked", a.marked},
           {"lost", a.lost},
           {"state", state_of(a)}};
  if (a.waits == nullptr) return row;
  const auto waits = a.waits->read();
  row["waits"] = {{"least", waits.least}, {"sum", waits.sum}, {"weights", waits.weights}};
  return row;
}

}  // namespace

Json figures_json(const Figures& f) {
  Json links = Json::array(), lcores = Json::array(), customers = Json::array(),
       offenders = Json::array();
  for (size_t l = 0; l < f.counters.links.size(); ++l) links.push_back(link_json(f, l));
  for (size_t w = 0; w < f.lcores.size(); ++w) lcores.push_back(lcore_json(f, w));
  for (const CustomerSnapshot* c : largest(f.customers, &CustomerSnapshot::dropped))
    customers.push_back({{"customer", c->name},
                         {"budget", c->budget.count()},
                         {"dropped", c->dropped()},
                         {"bytes", c->bytes},
                         {"causes", by_name(kRefusalNames, c->packets, kAsIs)}});
  for (const OffenderSnapshot* o : largest(f.offenders, &OffenderSnapshot::dropped))
    offenders.push_back(
        {{"link", o->link}, {"source", o->source}, {"owed", o->owed}, {"dropped", o->dropped}});
  std::vector<Account> active;
  std::ranges::copy_if(f.accounts, std::back_inserter(active), has_sent);
  Json tunnels = Json::array();
  for (const Account* a : largest(active, &Account::spend, kMaxTunnels))
    tunnels.push_back(tunnel_json(*a));
  const Snapshot& s = f.counters;
  return {{"router", f.node},
          {"version", f.build.version},
          {"generation", f.generation},
          {"t", to_seconds(f.time)},
          {"packets",
           {{"received", s.received},
            {"originated", s.originated},
            {"forwarded", s.forwarded},
            {"delivered", s.delivered},
            {"dropped", s.dropped()},
            {"held", s.held}}},
          {"links", std::move(links)},
          {"lcores", std::move(lcores)},
          {"customers", std::move(customers)},
          {"limited_customers", f.customers.size()},
          {"offenders", std::move(offenders)},
          {"tunnels", std::move(tunnels)},
          {"tunnel_customers", active.size()}};
}

}  // namespace turnpike::router
