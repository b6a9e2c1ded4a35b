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
  for (size_t p = 0; p < g.peers().size(); ++p)
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
  const gateway::GatewayTotals& t = gateway->totals();
  const metrics::SharedHistogram& waits = gateway->waits();
  return {{"tunnels", std::move(rows)},
          {"classes", std::move(classes)},
          {"entered_packets", t.entered_packets.read()},
          {"entered_bytes", t.entered_bytes.read()},
          {"released_packets", t.released_packets.read()},
          {"released_bytes", t.released_bytes.read()},
          {"wait_p50_ms", milliseconds(waits.quantile(0.5))},
          {"wait_p99_ms", milliseconds(waits.quantile(0.99))},
          {"outside_tunnels", t.outside.read()},
          {"bypassed_packets", t.bypassed.read()},
          {"unknown_customers", t.unknown_customers.read()},
          {"unknown_peers", t.unknown_peers.read()},
          {"bad_packets", t.bad_packets.read()},
          {"ecn_drops", t.ecn_drops.read()},
          {"silent_drops", t.silent_drops.read()},
          {"forged_packets", gateway->received().forged_packets.read() + t.forged.read()},
          {"unknown_keys", t.unknown_keys.read()},
          {"unsealed_packets", t.unsealed.read()},
          {"not_sealed", gateway->not_sealed()},
          {"refused_packets", gateway->received().refused_packets.read()},
          {"duplicate_packets", gateway->received().duplicate_packets.read()},
          {"unknown_flows", gateway->received().unknown_flows.read()},
          {"out_of_buffers", t.out_of_buffers.read() + gateway->without_headers()},
          {"mtu_reductions", t.mtu_reductions.read()},
          {"no_flow", t.no_flow.read()}};
}

}  // namespace turnpike::router
