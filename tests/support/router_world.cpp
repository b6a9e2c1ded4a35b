// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/router_world.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rte_mempool.h>

#include "common/config/address.h"
#include "common/protocols/fcp/header.h"
#include "common/protocols/registry.h"
#include "common/wire/bytes.h"
#include "common/wire/checksum.h"
#include "router/datapath/ingress/ip.h"
#include "tests/support/eal.h"

namespace turnpike::router::test {

World::World(unsigned workers, const config::Topology& t, RouterOptions options)
    : pool_(testing::test_pool().get()), free_before_(rte_mempool_avail_count(pool_)) {
  options.workers = workers;
  std::vector<std::vector<QueuePair*>> ports;
  for (size_t l = 0; l < t.routers[0].links.size(); ++l) {
    ports_.emplace_back();
    ports.emplace_back();
    for (unsigned w = 0; w < workers; ++w) {
      ports_[l].push_back(std::make_unique<MemoryPort>());
      ports[l].push_back(ports_[l].back().get());
    }
  }
  const std::vector<rte_mempool*> pools(workers, pool_);
  auto made = Router::make(t, 0, ports, pools, options);
  if (!made) throw std::runtime_error(made.error());
  router_ = std::move(*made);
}

World::~World() {
  const Snapshot s = snapshot();
  EXPECT_TRUE(s.conserved()) << "received " << s.received << " originated " << s.originated
                             << " forwarded " << s.forwarded << " delivered " << s.delivered
                             << " dropped " << s.dropped() << " held " << s.held;
  for (unsigned w = 0; w < router_->workers(); ++w) router_->worker(w).discard();
  EXPECT_TRUE(snapshot().conserved());
  EXPECT_EQ(router_->held(), 0U);
  router_.reset();
  ports_.clear();
  EXPECT_EQ(rte_mempool_avail_count(pool_), free_before_) << "buffers leaked";
}

void World::arrive(size_t link, const Frame& frame, unsigned worker, size_t segment) {
  ports_[link][worker]->in.push_back(
      testing::make_mbuf(frame, segment == 0 ? SIZE_MAX : segment, pool_));
}

Nanos World::poll(Nanos when) {
  now = when;
  Nanos next = kNever;
  for (unsigned w = 0; w < router_->workers(); ++w) {
    bool more = true;
    while (more) {
      next = std::min(next, router_->worker(w).poll(when));
      more = false;
      for (const auto& at_link : ports_) more = more || !at_link[w]->in.empty();
    }
  }
  EXPECT_TRUE(snapshot().conserved());
  return next;
}

void World::run_until(Nanos end) {
  for (Nanos next = poll(now); next <= end;) next = poll(std::max(next, now));
  now = end;
}

std::vector<Frame> World::sent(size_t link) {
  std::vector<Frame> frames;
  for (const auto& p : ports_[link]) {
    for (rte_mbuf* m : p->out) {
      frames.push_back(testing::bytes_of(m));
      EXPECT_EQ(frames.back().size(), m->pkt_len);
      rte_pktmbuf_free(m);
    }
    p->out.clear();
    p->when.clear();
  }
  return frames;
}

Frame World::only(size_t link) {
  auto frames = sent(link);
  EXPECT_EQ(frames.size(), 1U);
  return frames.size() == 1 ? frames[0] : Frame(1600);
}

uint64_t World::drops(DropReason why) const { return snapshot().drops[static_cast<size_t>(why)]; }

void World::expect_one_drop(DropReason why) const {
  const Snapshot s = snapshot();
  EXPECT_TRUE(s.conserved());
  for (size_t r = 0; r < kDropReasons; ++r) {
    const auto reason = static_cast<DropReason>(r);
    EXPECT_EQ(s.drops[r], reason == why ? 1U : 0U) << name_of(reason) << ", not " << name_of(why);
  }
}

// --- frames -------------------------------------------------------------------------------------

uint32_t ipv4(std::string_view text) { return config::parse_ipv4(text).value(); }
config::Ipv6 ipv6(std::string_view text) { return config::parse_ipv6(text).value(); }

namespace {

void put16(Frame& f, uint16_t v) {
  f.push_back(static_cast<uint8_t>(v >> 8));
  f.push_back(static_cast<uint8_t>(v));
}
void put32(Frame& f, uint32_t v) {
  put16(f, static_cast<uint16_t>(v >> 16));
  put16(f, static_cast<uint16_t>(v));
}
template <class Range>
void put(Frame& f, const Range& r) {
  f.insert(f.end(), r.begin(), r.end());
}

// Plain implementation: word by word, with the carry added back at each (RFC 1071).
uint16_t naive_sum(const uint8_t* p, size_t n, uint32_t sum = 0) {
  for (size_t i = 0; i < n; ++i) {
    sum += i % 2 == 0 ? static_cast<uint32_t>(p[i] << 8) : p[i];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<uint16_t>(sum);
}

uint16_t naive_pseudo(const uint8_t* addresses, size_t n, uint8_t protocol, size_t length) {
  Frame f(addresses, addresses + n);
  put32(f, static_cast<uint32_t>(length));
  put32(f, protocol);
  return naive_sum(f.data(), f.size());
}

}  // namespace

Frame ethernet(size_t link, uint16_t type, const Frame& payload, std::optional<uint16_t> vlan) {
  Frame f;
  put(f, router_mac(link));
  put(f, host_mac(link));
  if (vlan) {
    put16(f, wire::kEtherTypeVlan);
    put16(f, *vlan);
  }
  put16(f, type);
  put(f, payload);
  return f;
}

Frame ipv4_datagram(const Ipv4Spec& spec, const Frame& payload) {
  Frame f;
  const size_t header = 20 + spec.options.size();
  f.push_back(static_cast<uint8_t>(0x40 | header / 4));
  f.push_back(0);
  put16(f, static_cast<uint16_t>(header + payload.size()));
  put16(f, spec.id);
  put16(f, spec.fragment);
  f.push_back(spec.ttl);
  f.push_back(spec.protocol);
  put16(f, 0);
  put32(f, ipv4(spec.source));
  put32(f, ipv4(spec.destination));
  put(f, spec.options);
  wire::store_be16(f.data() + 10, static_cast<uint16_t>(~naive_sum(f.data(), header)));
  put(f, payload);
  return f;
}

Frame ipv6_datagram(const Ipv6Spec& spec, const Frame& payload) {
  Frame f;
  put32(f, 6U << 28);
  put16(f, static_cast<uint16_t>(payload.size()));
  f.push_back(spec.next);
  f.push_back(spec.hop_limit);
  put(f, ipv6(spec.source));
  put(f, ipv6(spec.destination));
  put(f, payload);
  return f;
}

Frame v4(const Ipv4Spec& spec, const Frame& payload) {
  return ethernet(kLeft, wire::kEtherTypeIpv4, ipv4_datagram(spec, payload));
}

Frame v6(const Ipv6Spec& spec, const Frame& payload) {
  return ethernet(kLeft, wire::kEtherTypeIpv6, ipv6_datagram(spec, payload));
}

Frame udp(uint16_t source, uint16_t destination, const Frame& payload) {
  Frame f;
  put16(f, source);
  put16(f, destination);
  put16(f, static_cast<uint16_t>(8 + payload.size()));
  put16(f, 0);
  put(f, payload);
  return f;
}

Frame bytes(size_t n, uint8_t seed) {
  Frame f(n);
  for (size_t i = 0; i < n; ++i) f[i] = static_cast<uint8_t>(seed + i * 7);
  return f;
}

Frame icmp(uint8_t type, uint8_t code, uint32_t rest, const Frame& payload) {
  Frame f{type, code, 0, 0};
  put32(f, rest);
  put(f, payload);
  wire::store_be16(f.data() + 2, static_cast<uint16_t>(~naive_sum(f.data(), f.size())));
  return f;
}

Frame icmp6(const Ipv6Spec& at, uint8_t type, uint8_t code, uint32_t rest, const Frame& payload) {
  Frame f{type, code, 0, 0};
  put32(f, rest);
  put(f, payload);
  Frame addresses;
  put(addresses, ipv6(at.source));
  put(addresses, ipv6(at.destination));
  const uint16_t pseudo = naive_pseudo(addresses.data(), 32, kIcmp6, f.size());
  wire::store_be16(f.data() + 2, static_cast<uint16_t>(~naive_sum(f.data(), f.size(), pseudo)));
  return f;
}

Frame plain(uint16_t datagram, bool v6, std::optional<uint16_t> vlan) {
  wire::FrameSpec spec{.source_mac = host_mac(kLeft),
                       .destination_mac = router_mac(kLeft),
                       .vlan = vlan,
                       .addresses = wire::Ipv4Pair{ipv4("10.0.1.2"), ipv4("10.0.2.2")},
                       .source_port = 1000,
                       .destination_port = 2000};
  if (v6) spec.addresses = wire::Ipv6Pair{ipv6("fd00:1::2"), ipv6("fd00:2::2")};
  return wire::build_frame(spec, bytes(std::min(64, datagram - (v6 ? 48 : 28))), datagram);
}

Frame fcp(const FcpSpec& spec) {
  wire::FrameSpec frame{.source_mac = host_mac(kLeft),
                        .destination_mac = router_mac(kLeft),
                        .vlan = {},
                        .addresses = wire::Ipv4Pair{ipv4(spec.source), ipv4(spec.destination)},
                        .source_port = wire::kDefaultUdpPort,
                        .destination_port = wire::kDefaultUdpPort,
                        .udp_checksum = spec.checksum};
  if (spec.v6) frame.addresses = wire::Ipv6Pair{ipv6("fd00:1::2"), ipv6(spec.destination6)};
  Frame payload(wire::kHeaderSize + fcp::kHeaderSize);
  wire::Header h;
  h.kind = spec.kind;
  h.protocol = fcp::kProtocolId;
  h.sequence = spec.sequence;
  h.length = wire::header_length(fcp::kHeaderSize, 0);
  wire::encode(h, payload.data());
  uint8_t* congestion = payload.data() + wire::kHeaderSize;
  if (spec.header != nullptr) {
    std::memcpy(congestion, spec.header, fcp::kHeaderSize);
  } else {
    fcp::store({.rtt_ns = spec.rtt_ns,
                .price = spec.price,
                .preload = spec.preload,
                .balance = spec.balance},
               congestion);
  }
  return wire::build_frame(frame, payload, spec.datagram);
}

float price_of(const Frame& frame) {
  wire::UdpFrame at;
  if (wire::locate_udp(frame, at) != wire::FrameError::kNone) return -1;
  if (wire::load_be16(frame.data() + at.udp + 2) != wire::kDefaultUdpPort) return -1;
  return fcp::load(frame.data() + at.payload + wire::kHeaderSize).price;
}

std::string unsound(const Frame& frame) {
  size_t at = 14;
  uint16_t type = wire::load_be16(frame.data() + 12);
  if (type == wire::kEtherTypeVlan) {
    type = wire::load_be16(frame.data() + 16);
    at = 18;
  }
  const uint8_t* ip = frame.data() + at;
  if (type == kEtherTypeArp) return "";
  if (type == wire::kEtherTypeIpv4) {
    const size_t header = (ip[0] & 15U) * 4, total = wire::load_be16(ip + 2);
    if (at + total != frame.size()) return "IPv4 total length";
    if (naive_sum(ip, header) != 0xffff) return "IPv4 header checksum";
    if ((wire::load_be16(ip + 6) & 0x3fff) != 0) return "";
    const uint8_t* l4 = ip + header;
    const size_t n = total - header;
    if (ip[9] == kIcmp) return naive_sum(l4, n) == 0xffff ? "" : "ICMP checksum";
    if (ip[9] != wire::kProtocolUdp || wire::load_be16(l4 + 6) == 0) return "";
    const uint16_t pseudo = naive_pseudo(ip + 12, 8, 17, n);
    return naive_sum(l4, n, pseudo) == 0xffff ? "" : "UDP checksum";
  }
  const size_t n = wire::load_be16(ip + 4);
  if (at + 40 + n != frame.size()) return "IPv6 payload length";
  if (ip[6] != kIcmp6 && ip[6] != wire::kProtocolUdp) return "";
  if (ip[6] == wire::kProtocolUdp && wire::load_be16(ip + 46) == 0) return "";
  const uint16_t pseudo = naive_pseudo(ip + 8, 32, ip[6], n);
  return naive_sum(ip + 40, n, pseudo) == 0xffff ? "" : "transport checksum";
}

}  // namespace turnpike::router::test
