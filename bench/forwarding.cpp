// SPDX-License-Identifier: BSD-3-Clause
#include "bench/forwarding.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <rte_cycles.h>

#include "common/config/load.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/params.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {
namespace {

constexpr uint32_t kIpv4Routes = 0x20000000;  // 32.0.0.0, a /24 each
constexpr uint32_t kCustomers = 0x60000000;   // 96.0.0.0, a /24 each
constexpr uint32_t kGroup = 0xef010001;       // 239.1.0.1
constexpr uint8_t kIpv6Routes = 0x20;         // 2000::, a /48 each
constexpr size_t kBuffers = 1024;             // per port
constexpr Nanos kSettled = 2100_us;

config::Ipv6 ipv6_route(uint32_t i) {
  config::Ipv6 a{kIpv6Routes, 0};
  for (size_t k = 0; k < 4; ++k) a[2 + k] = static_cast<uint8_t>(i >> (24 - 8 * k));
  return a;
}

bool priced(const Load& load) {
  return load.traffic == Traffic::kPriced || load.traffic == Traffic::kTree ||
         load.traffic == Traffic::kUnpriced;
}

config::Topology topology_of(const Load& load) {
  std::string hosts = "hosts:\n", links = "links:\n";
  const char* law = load.groups > 0 ? "{fcp: {groups: link}}" : priced(load) ? "fcp" : "none";
  for (unsigned i = 0; i < load.links; ++i) {
    const std::string n = std::to_string(i);
    hosts.append("  h").append(n).append(": {budget: 1 $/s}\n");
    links.append("  l").append(n).append(": {ends: [gate, h").append(n);
    links.append("], rate: 100 Gbps, attach: memif, drain: ");
    links.append(load.shaped ? "shaped" : "line-rate").append(", law: ").append(law);
    if (load.policy != nullptr)
      links.append(", classes: {first: {match: {dscp: 46}, policy: ")
          .append(load.policy)
          .append("}, rest: {}}");
    links.append("}\n");
  }
  std::string tree;
  if (load.traffic == Traffic::kTree) {
    tree = "trees: {tree: {group: 239.1.0.1, root: h0, receivers: [h1";
    for (unsigned i = 2; i < load.links; ++i) tree.append(", h").append(std::to_string(i));
    tree.append("]}}\n");
  }
  auto loaded = config::load_text(hosts + "routers: {gate: {}}\n" + links + tree, "bench");
  if (!loaded) throw std::runtime_error(loaded.error().front().text());
  config::Router& gate = loaded->routers[0];
  for (uint32_t i = 0; i < load.routes; ++i) {
    const auto link = i % std::max(load.links, 1U);
    if (load.traffic == Traffic::kIpv6) {
      gate.ipv6_routes.push_back({{ipv6_route(i), 48}, link});
    } else {
      gate.ipv4_routes.push_back({{kIpv4Routes + (i << 8), 24}, link});
    }
  }
  if (load.fib) gate.fib = {.ipv4 = load.routes + 1000, .ipv6 = load.routes + 1000};
  for (uint32_t i = 0; i < load.customers; ++i) {
    loaded->ipv4_customers.push_back({{kCustomers + (i << 8), 24}, i});
    loaded->customers.push_back({.name = std::to_string(i), .budget = Budget(1e6)});
    if (load.groups > 0) loaded->customers.back().group = i % load.groups;
  }
  for (unsigned i = 0; i < load.groups; ++i) loaded->groups.push_back({std::to_string(i), 1});
  if (load.customers > 0 && load.groups == 0)
    gate.enforcement = {
        .links = gate.links, .burst = 250_ms, .promise_burst = 250_ms, .unpriced_burst = 20_ms};
  for (config::Link& link : loaded->links)
    for (config::Direction& d : link.directions) {
      if (d.law.protocol == "fcp" && load.audit) d.law.params[fcp::kAudit] = 1;
      if (load.strict) d.source_check = config::SourceCheck::kStrict;
    }
  return std::move(*loaded);
}

/// A route that leads to that link, spread over all of them; scattered, as destinations are.
uint32_t route_for(const Load& load, unsigned link, unsigned flow) {
  const auto per_link = load.routes / load.links;
  const auto k = static_cast<uint32_t>((uint64_t{flow} * 2654435761U) % per_link);
  return k * load.links + link;
}

Front front_of(const Load& load, const config::Topology& t, unsigned from, unsigned flow) {
  const unsigned to = (from + 1) % load.links;
  const config::Link &in = t.links[from], &out = t.links[to];
  const bool routed = load.routes >= load.links;
  const uint32_t k = routed ? route_for(load, to, flow) : 0;
  const bool turnpike =
      load.traffic == Traffic::kFcp || (priced(load) && load.traffic != Traffic::kUnpriced);
  wire::FrameSpec spec;
  spec.source_mac = in.ends[1].mac;
  spec.destination_mac = in.ends[0].mac;
  if (load.traffic == Traffic::kIpv6) {
    config::Ipv6 to6 = routed ? ipv6_route(k) : out.ends[1].ipv6.address;
    if (routed) to6[15] = 1;
    spec.addresses = wire::Ipv6Pair{in.ends[1].ipv6.address, to6};
  } else {
    const uint32_t to4 = routed ? kIpv4Routes + (k << 8) + 1 : out.ends[1].ipv4.address;
    const uint32_t customer = flow * 2654435761U % std::max(load.customers, 1U);
    const uint32_t from4 =
        load.customers > 0 ? kCustomers + (customer << 8) + 1 : in.ends[1].ipv4.address;
    spec.addresses = wire::Ipv4Pair{from4, load.traffic == Traffic::kTree ? kGroup : to4};
  }
  spec.source_port = static_cast<uint16_t>(1024 + flow % 60'000);
  spec.destination_port = turnpike ? t.run.udp_port : 9;

  const bool classed = load.policy != nullptr && flow % 2 == 0;
  if (classed) spec.traffic_class = 46 << 2;

  std::vector<uint8_t> payload;
  if (turnpike) {
    payload.resize(wire::header_length(fcp::kHeaderSize, 0));
    wire::encode({.protocol = fcp::kProtocolId,
                  .length = static_cast<uint16_t>(payload.size()),
                  .flow = flow,
                  .sequence = 1},
                 payload.data());
    // A deadline class grants flows that accept no price above its own. Only packets that say when
    // the next one follows commit money to their group.
    fcp::store({.rtt_ns = 1'000'000 + flow % 64 * 1000,
                .reserve = classed ? 1e-10F : 0,
                .balance = 1e-9F,
                .slot = load.groups > 0 ? 1e-3F : 0},
               payload.data() + wire::kHeaderSize);
  }
  const auto frame =
      wire::build_frame(spec, payload, static_cast<uint16_t>(load.frame - wire::kEthernetSize));
  Front front{.length = static_cast<uint16_t>(frame.size())};
  std::copy_n(frame.begin(), std::min(frame.size(), Front::kSize), front.bytes.begin());
  return front;
}

Pool pool_for(const Load& load) {
  const auto mbufs = static_cast<uint32_t>(load.workers * load.links * kBuffers + 1023);
  auto pool = Pool::create("bench", {.mbufs = mbufs});
  if (!pool) throw std::runtime_error(pool.error());
  return std::move(*pool);
}

}  // namespace

Forwarding::Side::Side(rte_mempool* pool, size_t buffers) : buffers(pool, buffers) {}

uint64_t Forwarding::Side::sent() const {
  uint64_t n = 0;
  for (const auto& port : ports) n += port->sent();
  return n;
}

Forwarding::Forwarding(const Load& load)
    : load_(load),
      clock_(rte_get_tsc_hz(), TscClock::ticks()),
      topology_(topology_of(load)),
      pool_(pool_for(load)) {
  const bool tree = load.traffic == Traffic::kTree;
  std::vector<std::vector<QueuePair*>> ports(load.links);
  for (unsigned w = 0; w < load.workers; ++w) {
    Side& side =
        *sides_.emplace_back(std::make_unique<Side>(pool_.get(), tree ? 0 : load.links * kBuffers));
    for (unsigned i = 0; i < load.links; ++i) {
      std::vector<Front> fronts;
      const unsigned packets = tree && i > 0 ? 0 : std::max(load.flows, load.prepared);
      fronts.reserve(packets);
      for (unsigned p = 0; p < packets; ++p)
        fronts.push_back(front_of(load, topology_, i, p % load.flows));
      if (!fronts.empty()) frame_ = fronts.front().length;
      side.ports.push_back(std::make_unique<RefillPort>(side.buffers, std::move(fronts),
                                                        static_cast<uint16_t>(load.burst)));
      ports[i].push_back(side.ports.back().get());
    }
  }
  const std::vector<rte_mempool*> pools(load.workers, pool_.get());
  router::RouterOptions options;
  options.workers = load.workers;
  if (load.shaped) options.slack = 100_us;  // packets become due between polls
  auto made = router::Router::make(topology_, 0, ports, pools, options);
  if (!made) throw std::runtime_error(made.error());
  router_ = std::move(*made);
  // Laws settle first: a window of twice the round trips above.
  for (unsigned w = 0; w < load.workers && priced(load); ++w)
    for (Side& side = *sides_[w]; side.now < kBegin + kSettled;)
      router_->worker(w).poll(step(side));
  for (unsigned w = 0; w < load.workers && load.fib; ++w) router_->worker(w).online();
  for (unsigned w = 0; w < load.workers && load.capture > 0; ++w) {
    router::Mirror::Options mirror{.sample = load.capture, .slots = 1 << 16, .links = load.links};
    mirrors_.push_back(std::make_unique<router::Mirror>(mirror));
    probes_.push_back(std::make_unique<router::Probe>(
        router::Probe::Parts{.mirror = mirrors_.back().get()}, load.links));
    router_->worker(w).set_probe(probes_.back().get());
  }
}

Nanos Forwarding::step(Side& side) const {
  if (load_.workers > 1) return side.now = kBegin + clock_.now();
  const double per_byte = 8 / (0.99 * 100);  // ns, of a link of 100 Gbps
  const double wire = frame_ + 24.0;         // preamble, FCS and gap
  return side.now += Nanos(static_cast<int64_t>(std::ceil(load_.burst * wire * per_byte)));
}

uint64_t Forwarding::poll(unsigned worker) {
  Side& side = *sides_[worker];
  const uint64_t before = side.sent();
  router_->worker(worker).poll(step(side));
  if (load_.fib) router_->worker(worker).quiescent();
  return side.sent() - before;
}

uint64_t Forwarding::poll_ports() {
  Side& side = *sides_[0];
  std::array<rte_mbuf*, router::kBurst> burst;
  uint64_t n = 0;
  for (size_t i = 0; i < side.ports.size(); ++i) {
    const uint16_t got = side.ports[i]->rx(side.now, burst);
    n += side.ports[(i + 1) % side.ports.size()]->tx(side.now, std::span(burst).first(got));
  }
  return n;
}

}  // namespace turnpike::bench
