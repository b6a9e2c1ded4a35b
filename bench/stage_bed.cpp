// SPDX-License-Identifier: BSD-3-Clause
#include "bench/stage_bed.h"

#include <stdexcept>
#include <string>

#include "common/config/load.h"
#include "common/protocols/fcp/header.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"

namespace turnpike::bench {
namespace {

Pool pool_for_burst() {
  auto pool = Pool::create("stage", {.mbufs = 255, .cache = 0});
  if (!pool) throw std::runtime_error(pool.error());
  return std::move(*pool);
}

std::vector<uint8_t> frame_for(const config::Topology& t, StageBed::Packets kind) {
  const config::Link& in = t.links[0];
  const config::Interface& to = t.links[t.links.size() > 1 ? 1 : 0].ends[1];
  const bool fcp = kind == StageBed::Packets::kFcp;
  wire::FrameSpec spec;
  spec.source_mac = in.ends[1].mac;
  spec.destination_mac = in.ends[0].mac;
  if (kind == StageBed::Packets::kIpv6) {
    spec.addresses = wire::Ipv6Pair{in.ends[1].ipv6.address, to.ipv6.address};
  } else {
    spec.addresses = wire::Ipv4Pair{in.ends[1].ipv4.address, to.ipv4.address};
  }
  spec.source_port = 50'000;
  spec.destination_port = fcp ? t.run.udp_port : uint16_t{9};
  std::vector<uint8_t> payload;
  if (fcp) {
    payload.resize(wire::header_length(fcp::kHeaderSize, 0));
    wire::encode({.protocol = fcp::kProtocolId, .length = static_cast<uint16_t>(payload.size())},
                 payload.data());
    fcp::store({.rtt_ns = 20'000'000, .balance = 1e-9F}, payload.data() + wire::kHeaderSize);
  }
  return wire::build_frame(spec, payload);
}

}  // namespace

config::Topology star(unsigned links, const char* law) {
  std::string hosts = "hosts:\n", edges = "links:\n";
  for (unsigned i = 0; i < links; ++i) {
    const std::string n = std::to_string(i);
    hosts.append("  h").append(n).append(": {budget: 1 $/s}\n");
    edges.append("  l").append(n).append(": {ends: [gate, h").append(n);
    edges.append("], rate: 1 Tbps, drain: line-rate, attach: memif, law: ").append(law);
    edges.append("}\n");
  }
  auto loaded = config::load_text(hosts + "routers: {gate: {}}\n" + edges, "bench");
  if (!loaded) throw std::runtime_error(loaded.error().front().text());
  return std::move(*loaded);
}

StageBed::StageBed(unsigned links, const char* law, Packets kind)
    : topology_(star(links, law)), pool_(pool_for_burst()) {
  auto tables = router::Tables::build(topology_, 0, -1);
  if (!tables) throw std::runtime_error(tables.error());
  tables_ = std::move(*tables);
  context.tables = tables_.get();
  context.routes = &tables_->routes();
  context.pool = pool_.get();
  context.counters = &counters_;
  for (const config::Link& link : topology_.links) {
    links_.push_back(std::make_unique<router::EgressLink>(link, link.end_at("gate"), 1, 1));
    context.queues.emplace_back(*links_.back(), 0, nullptr, 0_ns, idle_until_);
  }
  if (rte_pktmbuf_alloc_bulk(pool_.get(), burst.mbufs.data(), router::kBurst) != 0)
    throw std::runtime_error("no buffers");
  const auto frame = frame_for(topology_, kind);
  for (rte_mbuf* m : burst.mbufs) fill(*m, frame);
}

StageBed::~StageBed() { rte_pktmbuf_free_bulk(burst.mbufs.data(), router::kBurst); }

void StageBed::fill(rte_mbuf& m, const std::vector<uint8_t>& frame) {
  std::ranges::copy(frame, rte_pktmbuf_mtod(&m, uint8_t*));
  m.data_len = static_cast<uint16_t>(frame.size());
  m.pkt_len = m.data_len;
}

void StageBed::receive(unsigned count, Nanos now) {
  burst.count = count;
  burst.now = burst.since = now;
  burst.forward = count == router::kBurst ? ~0U : (1U << count) - 1;
  burst.local = burst.oversized = burst.dropped = burst.unresolved = 0;
  for (unsigned i = 0; i < count; ++i) burst.info[i] = router::PacketInfo{};
}

}  // namespace turnpike::bench
