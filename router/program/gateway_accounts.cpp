// SPDX-License-Identifier: BSD-3-Clause
#include "router/program/gateway_accounts.h"

namespace turnpike::router {
namespace {

constexpr double kSpent = 0.99;  // share of a budget from which on it counts as spent

Account account_of(const gateway::Gateway& g, size_t customer) {
  const sender::HostTotals& t = g.customer(customer);
  const gateway::CustomerTraffic& traffic = g.traffic(customer);
  Account a;
  a.customer = g.topology().customers[customer].name;
  a.offered_bytes = traffic.offered_bytes.read();
  a.packets = t.sent_packets.read();
  a.bytes = t.sent_bytes.read();
  a.spend = t.spend.load(std::memory_order_relaxed);
  a.lost = t.lost_packets.read();
  a.prices = &traffic.prices;
  a.waits = &traffic.waits;
  a.bypassed = g.bypassed(customer);
  a.budget = t.budget.load(std::memory_order_relaxed);
  a.price = t.price.load(std::memory_order_relaxed);
  bool waits = false;
  for (const auto& tunnel : g.tunnels(customer)) {
    a.carried_bytes += tunnel->carried();
    a.dropped += tunnel->queue().dropped();
    a.marked += tunnel->queue().marked();
    a.at_ceiling = a.at_ceiling || tunnel->at_most();
    a.peer_silent = a.peer_silent || g.silent(tunnel->peer());
    waits = waits || tunnel->waiting() > 0;
  }
  a.limited = waits && t.committed.load(std::memory_order_relaxed) >= kSpent * a.budget;
  if (a.limited) a.at_ceiling = false;
  return a;
}

}  // namespace

std::vector<Account> accounts_of(const gateway::Gateway* gateway) {
  std::vector<Account> all;
  if (gateway == nullptr) return all;
  const size_t customers = gateway->topology().customers.size();
  all.reserve(customers);
  for (size_t c = 0; c < customers; ++c) all.push_back(account_of(*gateway, c));
  return all;
}

std::vector<PeerFigures> peers_of(const gateway::Gateway* gateway) {
  std::vector<PeerFigures> all;
  if (gateway == nullptr) return all;
  for (size_t p = 0; p < gateway->configuration().peers.size(); ++p)
    all.push_back({.name = gateway->configuration().peers[p].name, .silent = gateway->silent(p)});
  return all;
}

std::optional<GatewayFigures> figures_of(const gateway::Gateway* gateway) {
  if (gateway == nullptr) return {};
  using Totals = gateway::GatewayTotals;
  const uint64_t unknown_keys = gateway->total(&Totals::unknown_keys);
  return GatewayFigures{.bad = gateway->total(&Totals::bad_packets),
                        .unknown_peers = gateway->total(&Totals::unknown_peers),
                        .wrong_tokens = gateway->received(&sender::HostTotals::forged_packets),
                        .wrong_tags = gateway->total(&Totals::forged) - unknown_keys,
                        .unknown_keys = unknown_keys,
                        .unsealed = gateway->total(&Totals::unsealed)};
}

}  // namespace turnpike::router
