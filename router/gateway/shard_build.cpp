// SPDX-License-Identifier: BSD-3-Clause
// Construction of a shard: the sizes of its tables, its keys, its customers with their tunnels.
#include <algorithm>
#include <utility>

#include "common/protocols/random.h"
#include "router/gateway/shard.h"

namespace turnpike::gateway {
namespace {

constexpr size_t kQueuedPackets = 4096;  // of the packets of one poll
constexpr double kMinPrice = 0.25;       // of the price at which a customer's budget buys the core
constexpr double kMinBudget = 1e-9;      // $/s, of such a price
constexpr double kMaxRoundTrip = 0.5;    // s, of packets in flight that have records
constexpr size_t kMinRecords = size_t{1} << 14, kMaxRecords = size_t{1} << 22;
constexpr size_t kMinWaiting = 8192, kMaxWaiting = size_t{1} << 20;      // packets in all queues
constexpr uint64_t kTokens = 1, kIds = 2, kInnerFlows = 3, kNonces = 4;  // purposes of keys

std::vector<unsigned> dscps_of(const config::Gateway& g) {
  std::vector<unsigned> all;
  for (const config::GatewayClass& c : g.classes) all.push_back(c.core_dscp);
  return all;
}

double core_rate(const config::Topology& topology, const config::Gateway& g) {
  const config::Link& link = topology.links[g.core.front()];
  return bytes_per_second(link.directions[link.end_at(topology.routers[g.router].name)].rate);
}

/// Of the customers of one lcore, at most.
size_t tunnels_of(const SharedParts& parts) {
  const size_t customers =
      (parts.topology.customers.size() + parts.options.lcores - 1) / parts.options.lcores;
  return customers * parts.gateway.classes.size() * parts.gateway.peers.size();
}

/// Flows that the receiver knows at a time. Sealed ones are kept for as long as their tokens, 69 s,
/// while a tunnel that often pauses may open several. The flows of other gateways fall on lcores at
/// random.
uint32_t received_flows(const SharedParts& parts) {
  constexpr size_t kSpare = 1024, kMaxKept = 1 << 16, kKeptEach = 7, kUneven = 8;
  const size_t tunnels = tunnels_of(parts);
  const size_t kept =
      parts.gateway.security ? tunnels + std::min(kKeptEach * tunnels, kMaxKept) : 0;
  const size_t uneven = parts.options.lcores > 1 ? (tunnels + kept) / kUneven : 0;
  return static_cast<uint32_t>(tunnels + kept + uneven + kSpare);
}

/// One lcore may carry all that the core does. Records of eight times as many packets leave room
/// for smaller ones; several lcores share these, down to twice as many on each.
sender::Sizing size_of(const SharedParts& parts) {
  constexpr double kRoom = 8, kMinRoom = 2;
  const double packets = core_rate(parts.topology, parts.gateway) * kMaxRoundTrip /
                         static_cast<double>(parts.gateway.mtu.count());
  const double room = std::max(kRoom / parts.options.lcores, kMinRoom);
  return {.flows = 2 * tunnels_of(parts) + 1,  // one closes while the next opens
          .records = std::clamp(static_cast<size_t>(room * packets), kMinRecords, kMaxRecords)};
}

/// Half of the buffers may wait in the queues of all lcores: the other half is for ports and for
/// packets under way.
size_t waiting_of(const GatewayOptions& options) {
  return std::clamp<size_t>(options.pool->size / 2, kMinWaiting, kMaxWaiting) / options.lcores;
}

sender::SecretKey secret_of(const GatewayOptions& options) {
  SplitMix64 random(options.seed);
  return options.secret.value_or(sender::SecretKey{random.next(), random.next()});
}

sender::SecretKey key_for(const GatewayOptions& options, uint64_t purpose) {
  return sender::derive(secret_of(options), purpose);
}

/// No two lcores may use the same nonce.
uint64_t first_nonce(const GatewayOptions& options, unsigned lcore) {
  return key_for(options, kNonces + (uint64_t{lcore} << 32))[0];
}

}  // namespace

uint32_t overhead_of(const config::Gateway& gateway, const sender::FlowClass& kind) {
  return kind.headers + static_cast<uint32_t>(gateway.security ? Seal::kOverhead : 0);
}

Shard::Shard(const SharedParts& parts, unsigned lcore, std::unique_ptr<KeyRing> keys)
    : parts_(parts),
      topology_(parts.topology),
      own_(parts.gateway),
      pool_(parts.options.pool),
      index_(lcore),
      seed_(static_cast<uint32_t>(key_for(parts.options, kInnerFlows)[0])),
      state_({.size = size_of(parts),
              .groups = 1,
              .pool = parts.options.pool,
              .outcomes = outcomes_,
              .tick_shift = parts.options.tick_shift,
              .populated = parts.options.populated,
              .ids = sender::FlowIdCode(key_for(parts.options, kIds)[0], parts.options.lcores,
                                        lcore)}),
      peers_(parts.peers),
      seal_(keys ? std::optional<Seal>(std::in_place, std::move(keys), peers_.frames(),
                                       first_nonce(parts.options, lcore))
                 : std::nullopt),
      silent_(peers_.size()),
      paths_(peers_.frames(), dscps_of(own_)),
      flows_port_(kQueuedPackets),
      released_(kQueuedPackets),
      tx_(flows_port_),
      receiver_(std::make_unique<sender::Receiver>(received_flows(parts), /*runs=*/0, received_,
                                                   parts.options.populated,
                                                   key_for(parts.options, kTokens))),
      queues_(waiting_of(parts.options)),
      tunnel_parts_{parts_for(parts.kinds[0]), parts_for(parts.kinds[1])},
      inbox_(*parts.hand_over, lcore) {
  const config::Router& router = topology_.routers[own_.router];
  for (const size_t l : router.links) core_.push_back(std::ranges::count(own_.core, l) != 0);
  for (const size_t l : own_.core) {
    const config::Link& core = topology_.links[l];
    const config::Interface& end = core.ends[core.end_at(router.name)];
    core_ipv4_.push_back(end.ipv4.address);
    core_ipv6_.push_back(end.ipv6.address);
  }
  core_link_ = static_cast<uint16_t>(std::ranges::find(core_, true) - core_.begin());
  const config::Link& link = topology_.links[router.links[core_link_]];
  station_ = link.ends[link.end_at(router.name)].mac;
  make_customers();
}

TunnelParts Shard::parts_for(const sender::FlowClass& kind) {
  return {.queues = queues_,
          .waits = waits_,
          .pool = pool_,
          .codel = {own_.target, own_.interval},
          .limit = static_cast<uint64_t>(own_.limit.count()),
          .headers = overhead_of(own_, kind),
          .seal = seal_ ? &*seal_ : nullptr,
          .totals = totals_};
}

void Shard::make_customers() {
  const config::Link& link = topology_.links[own_.core.front()];
  const config::Direction& core = link.directions[link.end_at(topology_.routers[own_.router].name)];
  config::Direction port = core;
  port.law = {};  // the router's own link has a law
  for (size_t number = index_; number < topology_.customers.size();
       number += parts_.options.lcores) {
    const config::Customer& configured = topology_.customers[number];
    const Budget budget = configured.budget;
    const auto c = static_cast<uint32_t>(customers_.size());
    Customer& customer = *customers_.emplace_back(std::make_unique<Customer>(
        kMinPrice * std::max(budget.count(), kMinBudget) / bytes_per_second(core.rate)));
    customer.source.emplace(
        sender::SourceParts{.lcore = state_,
                            .totals = customer.totals,
                            .tx = tx_,
                            .host = c,
                            .paths = paths_,
                            .budget = budget,
                            .strategy = sender::make_strategy(own_.strategy, budget),
                            .line_rate = bytes_per_second(core.rate),
                            .nic = sender::Nic(port, 0)});
    for (uint32_t class_index = 0; class_index < own_.classes.size(); ++class_index)
      for (uint32_t p = 0; p < peers_.size(); ++p)
        tunnels_.push_back(std::make_unique<Tunnel>(
            tunnel_parts_[peers_.ip_version(p) == 6 ? 1 : 0], customer.traffic, peers_[p],
            TunnelPlace{.number = static_cast<uint32_t>(tunnels_.size()),
                        .customer = c,
                        .class_index = class_index,
                        .peer = p}));
    set_ceiling(c, configured);
  }
  ready_.reserve(tunnels_.size());
}

}  // namespace turnpike::gateway
