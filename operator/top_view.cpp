// SPDX-License-Identifier: BSD-3-Clause
#include "operator/top_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/metrics/log_histogram.h"

namespace turnpike::ops {
namespace {

double number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : 0;
}

std::string text(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

const Json& child(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const auto at = object.find(key);
  return at != object.end() && at->is_structured() ? *at : kNone;
}

/// The row of the same name in the list of the answer before; an empty object if there is none.
const Json& same_row(const Json& before, const char* list, const char* key, const Json& row) {
  static const Json kNone = Json::object();
  for (const Json& other : child(before, list))
    if (other.is_object() && other.value(key, Json()) == row.value(key, Json())) return other;
  return kNone;
}

/// Increase of a counter.
double gain(const Json& before, const Json& now, const char* key) {
  const double last = number(before, key), current = number(now, key);
  return current >= last ? current - last : current;
}

std::vector<TopDrops> drops_of(const Json& before, const Json& now, double seconds) {
  std::vector<TopDrops> all;
  for (const auto& [reason, count] : now.items())
    all.push_back({.reason = reason,
                   .per_s = gain(before, now, reason.c_str()) / seconds,
                   .total = number(now, reason.c_str())});
  return all;
}

void most_first(std::vector<TopDrops>& drops) {
  std::ranges::stable_sort(drops, [](const TopDrops& a, const TopDrops& b) {
    return std::pair(a.per_s, a.total) > std::pair(b.per_s, b.total);
  });
}

TopLink link_of(const Json& before, const Json& now, double seconds) {
  TopLink l;
  l.name = text(now, "link");
  l.port = child(now, "port");
  l.up = l.port.value("up", Json(true)) == true;
  l.capacity_bps = number(now, "rate_bps");
  l.price = number(now, "price");
  l.tx_bps = 8 * gain(before, now, "tx_bytes") / seconds;
  l.offered_bps = 8 * gain(before, now, "offered_bytes") / seconds;
  l.rx_pps = gain(before, now, "rx_packets") / seconds;
  l.tx_pps = gain(before, now, "tx_packets") / seconds;
  l.queue_bytes = number(now, "queue_bytes");
  l.queue_packets = number(now, "queue_packets");
  l.buffer_bytes = number(now, "buffer_bytes");
  if (l.capacity_bps > 0) {
    l.utilization = l.tx_bps / l.capacity_bps;
    l.delay_s = 8 * l.queue_bytes / l.capacity_bps;
  }
  l.reasons = drops_of(child(before, "drops"), child(now, "drops"), seconds);
  for (const TopDrops& d : l.reasons) l.drops_per_s += d.per_s, l.drops += d.total;
  most_first(l.reasons);
  l.gauges = child(now, "gauges");
  l.delays = child(now, "delay_s");
  return l;
}

TopLcore lcore_of(const Json& before, const Json& now, double seconds) {
  TopLcore l;
  l.lcore = static_cast<unsigned>(number(now, "lcore"));
  l.worker = static_cast<unsigned>(number(now, "worker"));
  const double busy = gain(before, now, "busy_s"), idle = gain(before, now, "idle_s");
  l.busy = busy + idle > 0 ? busy / (busy + idle) : 0;
  l.stalled = gain(before, now, "stalled_s") / seconds;
  l.rx_pps = gain(before, now, "rx_packets") / seconds;
  const double packets = gain(before, now, "timed_packets");
  const Json &last = child(before, "timed_cycles"), &cycles = child(now, "timed_cycles");
  for (const auto& [stage, count] : cycles.items()) {
    const double each = packets > 0 ? gain(last, cycles, stage.c_str()) / packets : 0;
    l.stages.emplace_back(stage, each);
    l.cycles += each;
  }
  return l;
}

/// The histogram of a row; empty if it has none of this shape.
metrics::LogHistogram::Values histogram(const Json& row, const char* key) {
  metrics::LogHistogram::Values values;
  const Json& given = child(row, key);
  const Json& weights = child(given, "weights");
  if (weights.size() > values.weights.size()) return values;
  values.least = std::max(number(given, "least"), 1e-300);
  values.sum = number(given, "sum");
  size_t i = 0;
  for (const Json& w : weights)
    values.weights[i++] = w.is_number_unsigned() ? w.get<uint64_t>() : 0;
  return values;
}

TopTunnels tunnels_of(const Json& before, const Json& now, double seconds) {
  TopTunnels t;
  t.name = text(now, "customer");
  t.state = text(now, "state");
  t.offered_bps = 8 * gain(before, now, "offered_bytes") / seconds;
  t.sent_bps = 8 * gain(before, now, "bytes") / seconds;
  t.budget = number(now, "budget");
  const double spent = gain(before, now, "spend"), bytes = gain(before, now, "bytes");
  t.spend = spent / seconds;
  t.price = bytes > 0 ? spent / bytes : 0;
  t.drops_per_s = gain(before, now, "dropped") / seconds;
  t.marks_per_s = gain(before, now, "marked") / seconds;
  const auto last = histogram(before, "waits"), waits = histogram(now, "waits");
  const bool went_on = last.least == waits.least && last.total() <= waits.total();
  t.wait_p99_s = 1e-9 * (went_on ? waits.since(last) : waits).quantile(0.99);
  return t;
}

Json drops_json(const std::vector<TopDrops>& drops) {
  Json out = Json::array();
  for (const TopDrops& d : drops)
    out.push_back({{"reason", d.reason}, {"per_s", d.per_s}, {"total", d.total}});
  return out;
}

}  // namespace

TopView top_view(const Json& before, const Json& now) {
  TopView v;
  v.router = text(now, "router");
  v.version = text(now, "version");
  v.uptime_s = number(now, "t");
  const double last = number(before, "t");
  const bool restarted = v.uptime_s <= last;
  const Json& from = restarted ? Json(Json::object()) : before;
  v.interval_s = std::max(restarted ? v.uptime_s : v.uptime_s - last, 1e-9);
  const double seconds = v.interval_s;
  const Json &packets = child(now, "packets"), &packets_before = child(from, "packets");
  v.rx_pps = gain(packets_before, packets, "received") / seconds;
  v.tx_pps = gain(packets_before, packets, "forwarded") / seconds;
  v.drops_per_s = gain(packets_before, packets, "dropped") / seconds;
  v.held = number(packets, "held");
  for (const Json& row : child(now, "links")) {
    v.links.push_back(link_of(same_row(from, "links", "link", row), row, seconds));
    for (const TopDrops& d : v.links.back().reasons) {
      auto same = std::ranges::find(v.drops, d.reason, &TopDrops::reason);
      if (same == v.drops.end()) same = v.drops.insert(v.drops.end(), {.reason = d.reason});
      same->per_s += d.per_s;
      same->total += d.total;
    }
  }
  most_first(v.drops);
  for (const Json& row : child(now, "lcores"))
    v.lcores.push_back(lcore_of(same_row(from, "lcores", "worker", row), row, seconds));
  for (const Json& row : child(now, "customers"))
    v.customers.push_back(
        {.name = text(row, "customer"),
         .budget = number(row, "budget"),
         .drops_per_s =
             gain(same_row(from, "customers", "customer", row), row, "dropped") / seconds,
         .drops = number(row, "dropped")});
  std::ranges::stable_sort(v.customers, std::ranges::greater{}, &TopCustomer::drops_per_s);
  for (const Json& row : child(now, "tunnels"))
    v.tunnels.push_back(tunnels_of(same_row(from, "tunnels", "customer", row), row, seconds));
  std::ranges::stable_sort(v.tunnels, std::ranges::greater{}, &TopTunnels::spend);
  v.tunnel_customers = number(now, "tunnel_customers");
  return v;
}

std::vector<TopFlow> top_flows(const Json& answer) {
  std::vector<TopFlow> flows;
  for (const Json& row : child(answer, "flows"))
    flows.push_back({.customer = text(row, "customer"),
                     .source = text(row, "source"),
                     .destination = text(row, "destination"),
                     .rate_bps = number(row, "rate_bps"),
                     .price = number(row, "price"),
                     .spend = number(row, "spend")});
  return flows;
}

Json top_json(const TopView& v) {
  Json links = Json::array(), lcores = Json::array(), customers = Json::array();
  for (const TopLink& l : v.links)
    links.push_back({{"link", l.name},
                     {"up", l.up},
                     {"capacity_bps", l.capacity_bps},
                     {"price", l.price},
                     {"tx_bps", l.tx_bps},
                     {"offered_bps", l.offered_bps},
                     {"rx_pps", l.rx_pps},
                     {"tx_pps", l.tx_pps},
                     {"utilization", l.utilization},
                     {"queue_bytes", l.queue_bytes},
                     {"queue_delay_ms", l.delay_s * 1e3},
                     {"drops_per_s", l.drops_per_s},
                     {"drops", drops_json(l.reasons)},
                     {"gauges", l.gauges},
                     {"port", l.port}});
  for (const TopLcore& l : v.lcores) {
    Json stages = Json::object();
    for (const auto& [stage, cycles] : l.stages) stages[stage] = cycles;
    lcores.push_back({{"lcore", l.lcore},
                      {"worker", l.worker},
                      {"busy", l.busy},
                      {"stalled", l.stalled},
                      {"rx_pps", l.rx_pps},
                      {"cycles_per_packet", l.cycles},
                      {"stages", std::move(stages)}});
  }
  for (const TopCustomer& c : v.customers)
    customers.push_back({{"customer", c.name},
                         {"budget", c.budget},
                         {"drops_per_s", c.drops_per_s},
                         {"drops", c.drops}});
  Json tunnels = Json::array();
  for (const TopTunnels& t : v.tunnels)
    tunnels.push_back({{"customer", t.name},
                       {"offered_bps", t.offered_bps},
                       {"sent_bps", t.sent_bps},
                       {"budget", t.budget},
                       {"spend", t.spend},
                       {"price", t.price},
                       {"wait_p99_ms", t.wait_p99_s * 1e3},
                       {"drops_per_s", t.drops_per_s},
                       {"marks_per_s", t.marks_per_s},
                       {"state", t.state}});
  return {{"router", v.router},           {"version", v.version},
          {"uptime_s", v.uptime_s},       {"interval_s", v.interval_s},
          {"rx_pps", v.rx_pps},           {"tx_pps", v.tx_pps},
          {"drops_per_s", v.drops_per_s}, {"held", v.held},
          {"links", std::move(links)},    {"lcores", std::move(lcores)},
          {"drops", drops_json(v.drops)}, {"customers", std::move(customers)},
          {"tunnels", std::move(tunnels)}};
}

std::string_view name_of(TopOrder order) {
  constexpr std::array<std::string_view, static_cast<size_t>(TopOrder::kCount)> kNames{
      "name", "price", "rate", "queue", "drops"};
  return kNames[static_cast<size_t>(order)];
}

void sort_links(std::vector<TopLink>& links, TopOrder order, bool reverse) {
  const auto figure = [order](const TopLink& l) {
    switch (order) {
      case TopOrder::kPrice:
        return l.price;
      case TopOrder::kRate:
        return l.tx_bps;
      case TopOrder::kQueue:
        return l.queue_bytes;
      case TopOrder::kDrops:
        return l.drops_per_s;
      case TopOrder::kName:
      case TopOrder::kCount:
        break;
    }
    return 0.;
  };
  std::ranges::stable_sort(links, [&](const TopLink& a, const TopLink& b) {
    return figure(a) != figure(b) ? figure(a) > figure(b) : a.name < b.name;
  });
  if (reverse) std::ranges::reverse(links);
}

}  // namespace turnpike::ops
