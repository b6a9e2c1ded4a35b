// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show_tunnels.h"

#include <cmath>
#include <vector>

namespace turnpike::router {

namespace {

double milliseconds(uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// Of several tunnels.
struct Queues {
  uint64_t carried = 0, waiting = 0;  // B
  uint64_t dropped = 0, marked = 0;   // packets

  void add(const gateway::Tunnel& tunnel) {
    carried += tunnel.carried();
    waiting += tunnel.waiting();
    dropped += tunnel.queue().dropped();
    marked += tunnel.queue().marked();
  }
};

/// A row for each class that has carried something.
void add_classes(const gateway::Gateway& g, size_t customer, Json& rows) {
  const config::Gateway& own = g.configuration();
  std::vector<Queues> classes(own.classes.size());
  for (const auto& tunnel : g.tunnels(customer)) classes[tunnel->class_index()].add(*tunnel);
  for (size_t k = 0; k < classes.size(); ++k)
    if (classes[k].carried > 0)
      rows.push_back({{"customer", g.topology().customers[customer].name},
                      {"class", own.classes[k].name},
                      {"bytes", classes[k].carried},
                      {"waiting_bytes", classes[k].waiting},
                      {"dropped", classes[k].dropped},
                      {"marked", classes[k].marked}});
}

Json row_of(const gateway::Gateway& g, size_t customer) {
  const sender::HostTotals& t = g.customer(customer);
  const config::Gateway& own = g.configuration();
  const double ceiling = g.ceiling(customer);  // B/s
  Queues all;
  for (const auto& tunnel : g.tunnels(customer)) all.add(*tunnel);
  std::string silent;
  for (size_t p = 0; p < own.peers.size(); ++p)
    if (g.silent(p)) silent += (silent.empty() ? "" : ", ") + own.peers[p].name;
  return {{"customer", g.topology().customers[customer].name},
          {"budget", t.budget.load(std::memory_order_relaxed)},
          {"ceiling", std::isinf(ceiling) ? Json() : Json(8 * ceiling)},
          {"flows", t.active_flows.load(std::memory_order_relaxed)},
          {"packets", t.sent_packets.read()},
          {"bytes", t.sent_bytes.read()},
          {"spend", t.spend.load(std::memory_order_relaxed)},
          {"price", t.price.load(std::memory_order_relaxed)},
          {"rtt_ms", milliseconds(static_cast<uint64_t>(t.rtt.load(std::memory_order_relaxed)))},
          {"waiting_bytes", all.waiting},
          {"wait_p99_ms", 1e-6 * g.traffic(customer).waits.read().quantile(0.99)},
          {"dropped", all.dropped},
          {"marked", all.marked},
          {"lost", t.lost_packets.read()},
          {"silent_peers", silent},
          {"bypassed", g.bypassed(customer)}};
}

}  // namespace

Json show_tunnels(const gateway::Gateway* gateway) {
  Json rows = Json::array(), classes = Json::array();
  if (gateway == nullptr) return {{"tunnels", std::move(rows)}};
  for (size_t c = 0; c < gateway->topology().customers.size(); ++c) {
    if (gateway->customer(c).opened_flows.read() == 0 && !gateway->bypassed(c)) continue;
    rows.push_back(row_of(*gateway, c));
    if (gateway->configuration().classes.size() > 1) add_classes(*gateway, c, classes);
  }
  using Totals = gateway::GatewayTotals;
  using Received = sender::HostTotals;
  const auto total = [gateway](auto counter) { return gateway->total(counter); };
  const auto received = [gateway](auto counter) { return gateway->received(counter); };
  const metrics::Histogram waits = gateway->waits();
  return {{"tunnels", std::move(rows)},
          {"classes", std::move(classes)},
          {"entered_packets", total(&Totals::entered_packets)},
          {"entered_bytes", total(&Totals::entered_bytes)},
          {"released_packets", total(&Totals::released_packets)},
          {"released_bytes", total(&Totals::released_bytes)},
          {"wait_p50_ms", milliseconds(waits.quantile(0.5))},
          {"wait_p99_ms", milliseconds(waits.quantile(0.99))},
          {"outside_tunnels", total(&Totals::outside)},
          {"bypassed_packets", total(&Totals::bypassed)},
          {"unknown_customers", total(&Totals::unknown_customers)},
          {"unknown_peers", total(&Totals::unknown_peers)},
          {"bad_packets", total(&Totals::bad_packets)},
          {"ecn_drops", total(&Totals::ecn_drops)},
          {"silent_drops", total(&Totals::silent_drops)},
          {"forged_packets", received(&Received::forged_packets) + total(&Totals::forged)},
          {"unknown_keys", total(&Totals::unknown_keys)},
          {"unsealed_packets", total(&Totals::unsealed)},
          {"not_sealed", total(&Totals::not_sealed)},
          {"refused_packets", received(&Received::refused_packets)},
          {"duplicate_packets", received(&Received::duplicate_packets)},
          {"unknown_flows", received(&Received::unknown_flows)},
          {"out_of_buffers", total(&Totals::out_of_buffers)},
          {"mtu_reductions", total(&Totals::mtu_reductions)},
          {"handed_over", total(&Totals::handed_over)},
          {"no_flow", total(&Totals::no_flow)}};
}

}  // namespace turnpike::router
