// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/gateway.h"

#include <algorithm>
#include <utility>

#include "common/protocols/packet_headers.h"

namespace turnpike::gateway {
namespace {

std::vector<sender::FlowClass> kinds_of(const config::Gateway& g, const Protocol& protocol) {
  std::vector<sender::FlowClass> kinds;
  for (const config::GatewayClass& c : g.classes)
    for (const unsigned ip_version : {4U, 6U})
      kinds.push_back({.protocol = &protocol,
                       .params = g.law.params,
                       .ip_version = ip_version,
                       .dscp = c.core_dscp,
                       .terms = {.share = c.share, .background = c.background},
                       .packet = static_cast<uint32_t>(g.mtu.count()),
                       .headers = packet_headers(protocol, ip_version)});
  return kinds;
}

/// The keys in `wanted` of the peers of `own`, for each lcore.
tl::expected<Gateway::Keys, std::string> keys_for(unsigned lcores, const config::Gateway& own,
                                                  const config::Gateway& wanted) {
  Gateway::Keys all;
  for (unsigned lcore = 0; lcore < lcores; ++lcore) {
    auto keys = KeyRing::make(own, wanted);
    if (!keys) return tl::unexpected(keys.error());
    all.push_back(std::move(*keys));
  }
  return all;
}

}  // namespace

tl::expected<std::unique_ptr<Gateway>, std::string> Gateway::make(const config::Topology& topology,
                                                                  size_t index,
                                                                  const GatewayOptions& options) {
  const config::Gateway& g = topology.gateways[index];
  const std::string& name = topology.routers[g.router].name;
  const auto fail = [&](const std::string& why) {
    return tl::unexpected("gateway " + name + ": " + why);
  };
  const Protocol* protocol = find_protocol(g.law.protocol);
  if (protocol == nullptr) return fail("no protocol \"" + g.law.protocol + "\"");
  std::vector<sender::FlowClass> kinds = kinds_of(g, *protocol);
  auto peers = Peers::make(topology, index, {overhead_of(g, kinds[0]), overhead_of(g, kinds[1])},
                           options.socket, options.fib);
  if (!peers) return fail(peers.error());
  auto customers = router::CustomerTable::build(topology, g.router, options.socket);
  if (!customers) return fail(customers.error());
  auto hand_over = HandOver::make(options.lcores, options.socket);
  if (!hand_over) return fail("no memory for the rings between lcores");
  Keys keys(options.lcores);
  if (g.security) {
    auto ready = keys_for(options.lcores, g, g);
    if (!ready) return fail(ready.error());
    keys = std::move(*ready);
  }
  std::unique_ptr<Gateway> made(
      new Gateway({.topology = topology,
                   .gateway = g,
                   .options = options,
                   .kinds = std::move(kinds),
                   .peers = std::move(*peers),
                   .customers = std::move(*customers),
                   .hand_over = std::move(hand_over),
                   .answers = std::make_unique<PeerAnswers>(options.lcores, g.peers.size())}));
  for (unsigned lcore = 0; lcore < options.lcores; ++lcore)
    made->shards_.push_back(std::make_unique<Shard>(made->parts_, lcore, std::move(keys[lcore])));
  for (size_t c = 0; c < topology.customers.size(); ++c)
    made->places_.emplace(topology.customers[c].name, c);
  return made;
}

uint32_t Gateway::end() {
  uint32_t dropped = 0;
  for (const auto& shard : shards_) dropped += shard->end();
  return dropped;
}

void Gateway::take_customers(const config::Topology& wanted) {
  const auto& known = topology().customers;
  for (size_t i = 0; i < wanted.customers.size(); ++i) {
    const config::Customer& changed = wanted.customers[i];
    size_t own = i;  // mostly they have kept their places
    if (own >= known.size() || known[own].name != changed.name) {
      const auto found = find_customer(changed.name);
      if (!found) continue;
      own = *found;
    }
    shard_of(own).take_customer(place_of(own), changed);
  }
}

tl::expected<Gateway::Keys, std::string> Gateway::prepare_keys(
    const config::Topology& wanted) const {
  const std::string& name = topology().routers[configuration().router].name;
  const auto next = std::ranges::find(wanted.gateways, name, [&](const config::Gateway& g) {
    return wanted.routers[g.router].name;
  });
  if (!sealed() || next == wanted.gateways.end()) return Keys();
  auto keys = keys_for(lcores(), configuration(), *next);
  if (!keys) return tl::unexpected("gateway " + name + ": " + keys.error());
  return keys;
}

void Gateway::take_keys(Keys& keys) {
  for (size_t lcore = 0; lcore < keys.size(); ++lcore) shards_[lcore]->take_keys(keys[lcore]);
}

uint64_t Gateway::total(metrics::Counter GatewayTotals::*counter) const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) sum += (shard->totals().*counter).read();
  return sum;
}

uint64_t Gateway::received(metrics::Counter sender::HostTotals::*counter) const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) sum += (shard->received().*counter).read();
  return sum;
}

bool Gateway::silent(size_t peer) const {
  return std::ranges::any_of(shards_, [peer](const auto& shard) { return shard->silent(peer); });
}

metrics::Histogram Gateway::waits() const {
  metrics::Histogram all;
  for (const auto& shard : shards_) all.merge(shard->waits());
  return all;
}

}  // namespace turnpike::gateway
