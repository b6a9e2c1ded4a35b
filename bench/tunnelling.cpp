// SPDX-License-Identifier: BSD-3-Clause
#include "bench/tunnelling.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <rte_mbuf.h>

#include "common/config/load.h"
#include "router/gateway/seal.h"

namespace turnpike::bench {
namespace {

constexpr uint32_t kCustomers = 0x60000000;    // 96.0.0.0, a /24 each
constexpr uint32_t kDestination = 0x20000001;  // 32.0.0.1, behind the peer
constexpr Nanos kRoundTrip = 1_ms;
constexpr unsigned kWarmUp = 20;  // packets of each active customer, at least
constexpr Nanos kMaxWarmUp = 10_s;

constexpr const char* kFile = R"(
hosts: { near: {}, far: { external: true, addresses: [10.9.0.2/24], mac: "02:00:00:00:09:02" } }
routers: { gate: { routes: { prefix: 32.0.0.0/8, via: core } } }
links:
  inner: { ends: [gate, near], rate: 100 Gbps, attach: memif, drain: line-rate }
  core: { ends: [gate, far], rate: 100 Gbps, attach: memif, drain: line-rate, buffer: 1 MB, law: fcp, mtu: 1640,
          addresses: { gate: [10.9.0.1/24] } }
customers: { "0": { prefix: 96.0.0.0/24, budget: 1 $/s } }
gateways: { gate: { core: core, peers: { elsewhere: { address: 10.9.0.2, prefix: [32.0.0.0/8] } } } }
)";

config::Topology topology_of(unsigned customers, bool sealed) {
  auto loaded = config::load_text(kFile, "bench");
  if (!loaded) throw std::runtime_error(loaded.error().front().text());
  for (uint32_t i = 1; i < customers; ++i) {
    loaded->ipv4_customers.push_back({{kCustomers + (i << 8), 24}, i});
    loaded->customers.push_back({.name = std::to_string(i), .budget = Budget(1)});
  }
  if (sealed) {
    config::Gateway& gateway = loaded->gateways[0];
    gateway.security = config::GatewaySecurity{.key_file = "none"};
    gateway.peers[0].keys.emplace_back(std::vector<uint8_t>(SecretBytes::kMaxSize, 1));
  }
  for (config::Link& link : loaded->links)
    for (config::Direction& d : link.directions) d.source_check = config::SourceCheck::kOff;
  return std::move(*loaded);
}

Pool pool_for(unsigned active) {
  auto pool = Pool::create("bench", {.mbufs = 2 * active + 16383});
  if (!pool) throw std::runtime_error(pool.error());
  return std::move(*pool);
}

Front front_of(const config::Topology& t, unsigned customer) {
  const config::Link& in = t.links[0];
  wire::FrameSpec spec;
  spec.source_mac = in.ends[1].mac;
  spec.destination_mac = in.ends[0].mac;
  spec.addresses = wire::Ipv4Pair{kCustomers + (customer << 8) + 1, kDestination};
  spec.source_port = 1024;
  spec.destination_port = 9;
  const auto frame =
      wire::build_frame(spec, {}, static_cast<uint16_t>(Tunnelling::kFrame - wire::kEthernetSize));
  Front front{.length = static_cast<uint16_t>(frame.size())};
  std::copy_n(frame.begin(), Front::kSize, front.bytes.begin());
  return front;
}

/// Authenticates answers as the peer of a gateway does; `answers`: their headers.
std::function<void(rte_mbuf&)> sealing(const config::Gateway& gateway, wire::FrameSpec answers) {
  answers.destination_port = answers.source_port;  // to which packets go
  auto keys = gateway::KeyRing::make(gateway, gateway);
  if (!keys) throw std::runtime_error(keys.error());
  auto seal = std::make_shared<gateway::Seal>(std::move(*keys), std::span(&answers, 1), 1);
  return [seal](rte_mbuf& m) {
    constexpr size_t kUdpAt = wire::kEthernetSize + wire::kIpv4Size;
    constexpr uint16_t kSize = gateway::Seal::kOverhead;
    auto* const frame = rte_pktmbuf_mtod(&m, uint8_t*);
    const std::span<const uint8_t> headers(frame + kUdpAt + wire::kUdpSize,
                                           m.data_len - kUdpAt - wire::kUdpSize);
    const std::span payload(frame + m.data_len, kSize);
    const uint16_t port = wire::load_be16(frame + kUdpAt + wire::kUdpDestinationAt);
    if (!seal->seal(0, payload, gateway::Seal::Answer{headers, port})) std::abort();
    const auto lengthen = [frame](size_t at) {
      wire::store_be16(frame + at, static_cast<uint16_t>(wire::load_be16(frame + at) + kSize));
    };
    lengthen(wire::kEthernetSize + wire::kIpv4TotalLengthAt);
    lengthen(kUdpAt + wire::kUdpLengthAt);
    m.data_len = static_cast<uint16_t>(m.data_len + kSize);
    m.pkt_len = m.data_len;
  };
}

}  // namespace

Tunnelling::Tunnelling(const Options& options)
    : topology_(topology_of(options.customers, options.sealed)),
      pool_(pool_for(std::min(options.customers, kActive))),
      buffers_(pool_.get(), 0) {
  const unsigned active = std::min(options.customers, kActive), lcores = options.lcores;
  std::vector<std::vector<Front>> fronts(lcores);  // by the lcore that receives them
  for (unsigned i = 0; i < active; ++i) {          // spread over all customers
    const auto c = static_cast<unsigned>(uint64_t{i} * options.customers / active);
    fronts[(c + (options.handed ? 1 : 0)) % lcores].push_back(front_of(topology_, c));
  }

  const config::Interface &gate = topology_.links[1].ends[0], &far = topology_.links[1].ends[1];
  // Each customer's budget buys twice what it sends.
  const double rate = 2 * kPps / active * (kFrame + 84.0);
  const wire::FrameSpec back = answers_between(far, gate, topology_.run.udp_port);
  std::vector<QueuePair*> inner, core;
  for (unsigned lcore = 0; lcore < lcores; ++lcore) {
    inner_.push_back(
        std::make_unique<RefillPort>(buffers_, std::move(fronts[lcore]), uint16_t{kBurst}));
    core_.push_back(std::make_unique<AnswerPort>(
        AnswerPort::Options{
            .back = back,
            .rtt = kRoundTrip,
            .price = static_cast<float>(1 / rate),
            .under_way =
                std::bit_ceil(static_cast<size_t>(4 * kPps * to_seconds(kRoundTrip) + 2 * active)),
            .finish = options.sealed ? sealing(topology_.gateways[0], back) : nullptr},
        pool_.get()));
    inner.push_back(inner_.back().get());
    core.push_back(core_.back().get());
  }
  const std::vector<rte_mempool*> pools(lcores, pool_.get());
  router::RouterOptions router_options;
  router_options.workers = lcores;
  auto made = router::Router::make(topology_, 0, {inner, core}, pools, router_options);
  if (!made) throw std::runtime_error(made.error());
  router_ = std::move(*made);
  auto gateway = gateway::Gateway::make(topology_, 0,
                                        {.pool = pool_.get(), .lcores = lcores, .tick_shift = 8});
  if (!gateway) throw std::runtime_error(gateway.error());
  gateway_ = std::move(*gateway);
  for (unsigned lcore = 0; lcore < lcores; ++lcore)
    router_->worker(lcore).set_tunnels(&gateway_->shard(lcore));

  // The tunnels open slowly: it is over when what waited meanwhile has left.
  const unsigned polls = (kWarmUp * active + kBurst - 1) / kBurst;
  do {
    for (unsigned i = 0; i < polls; ++i) step();
    if (now_ > kMaxWarmUp) throw std::runtime_error("bench: the tunnels do not carry what comes");
  } while (waiting() > uint64_t{kBurst} * kFrame);
}

uint64_t Tunnelling::waiting() const {
  uint64_t bytes = 0;
  for (size_t c = 0; c < topology_.customers.size(); ++c)
    bytes += gateway_->tunnels(c)[0]->waiting();
  return bytes;
}

uint64_t Tunnelling::poll() { return step(); }

uint64_t Tunnelling::step() {
  const size_t lcore = std::exchange(next_, (next_ + 1) % core_.size());
  const uint64_t before = core_[lcore]->data();
  router_->worker(static_cast<unsigned>(lcore)).poll(now_ += from_seconds(kBurst / kPps));
  return core_[lcore]->data() - before;
}

}  // namespace turnpike::bench
