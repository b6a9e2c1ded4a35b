// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/show_tunnels.h"

#include <cmath>

namespace turnpike::router {

namespace {

double milliseconds(uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

Json row_of(const gateway::Gateway& g, size_t customer) {
  const sender::HostTotals& t = g.customer(customer);
  const config::Gateway& own = g.configuration();
  const double ceiling = g.ceiling(customer);  // B/s
  uint64_t waiting = 0, dropped = 0, marked = 0;
  std::string silent;
  for (size_t p = 0; p < g.peers().size(); ++p) {
    const gateway::Tunnel& tunnel = g.tunnel(customer, p);
    waiting += tunnel.waiting();
    dropped += tunnel.queue().dropped();
    marked += tunnel.queue().marked();
    if (g.silent(p)) silent += (silent.empty() ? "" : ", ") + own.peers[p].name;
  }
  return {{"customer", g.topology().customers[customer].name},
          {"budget", t.budget.load(std::memory_order_relaxed)},
          {"ceiling", std::isinf(ceiling) ? Json() : Json(8 * ceiling)},
          {"flows", t.active_flows.load(std::memory_order_relaxed)},
          {"packets", t.sent_packets.read()},
          {"bytes", t.sent_bytes.read()},
          {"spend", t.spend.load(std::memory_order_relaxed)},
          {"price", t.price.load(std::memory_order_relaxed)},
          {"rtt_ms", milliseconds(static_cast<uint64_t>(t.rtt.load(std::memory_order_relaxed)))},
          {"waiting_bytes", waiting},
          {"dropped", dropped},
          {"marked", marked},
          {"lost", t.lost_packets.read()},
          {"silent_peers", silent},
          {"bypassed", g.bypassed(customer)}};
}

}  // namespace

Json show_tunnels(const gateway::Gateway* gateway) {
  Json rows = Json::array();
  if (gateway == nullptr) return {{"tunnels", std::move(rows)}};
  for (size_t c = 0; c < gateway->topology().customers.size(); ++c)
    if (gateway->customer(c).opened_flows.read() > 0 || gateway->bypassed(c))
      rows.push_back(row_of(*gateway, c));
  const gateway::GatewayTotals& t = gateway->totals();
  const metrics::SharedHistogram& waits = gateway->waits();
  return {{"tunnels", std::move(rows)},
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
          {"forged_packets", gateway->received().forged_packets.read()},
          {"refused_packets", gateway->received().refused_packets.read()},
          {"duplicate_packets", gateway->received().duplicate_packets.read()},
          {"unknown_flows", gateway->received().unknown_flows.read()},
          {"out_of_buffers", t.out_of_buffers.read() + gateway->without_headers()},
          {"no_flow", t.no_flow.read()}};
}

}  // namespace turnpike::router
