// SPDX-License-Identifier: BSD-3-Clause
#include "router/gateway/peers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/wire/bytes.h"

namespace turnpike::gateway {
namespace {

constexpr uint16_t kMinMtu = 576;  // B, over IPv4 (RFC 791)
constexpr Nanos kMtuKnown = from_seconds(600);

const config::Interface& core_end(const config::Topology& topology, const config::Gateway& g) {
  const config::Link& link = topology.links[g.core.front()];
  return link.ends[link.end_at(topology.routers[g.router].name)];
}

/// The router rewrites the MACs; those of its own station pass its checks.
wire::FrameSpec frame_to(const config::Topology& topology, const config::Gateway& g,
                         const config::GatewayPeer& peer) {
  const config::Interface& own = core_end(topology, g);
  wire::FrameSpec spec;
  spec.source_mac = spec.destination_mac = own.mac;
  spec.destination_port = topology.run.udp_port;
  if (const auto* v4 = std::get_if<config::Ipv4>(&peer.address)) {
    spec.addresses = wire::Ipv4Pair{own.ipv4.address, *v4};
  } else {
    spec.addresses = wire::Ipv6Pair{own.ipv6.address, std::get<config::Ipv6>(peer.address)};
  }
  return spec;
}

}  // namespace

Peers::Ends Peers::ends_of(const wire::FrameSpec& frame) {
  Ends ends;
  if (const auto* v4 = std::get_if<wire::Ipv4Pair>(&frame.addresses)) {
    wire::store_be32(ends.in.data(), v4->destination);
    wire::store_be32(ends.in.data() + sizeof v4->destination, v4->source);
  } else {
    const auto& v6 = std::get<wire::Ipv6Pair>(frame.addresses);
    ends.ipv6 = true;
    std::ranges::copy(v6.source, std::ranges::copy(v6.destination, ends.in.begin()).out);
  }
  return ends;
}

tl::expected<Peers, std::string> Peers::make(const config::Topology& topology, size_t gateway,
                                             std::array<uint32_t, 2> headers, int socket,
                                             router::FibKind kind) {
  const config::Gateway& g = topology.gateways[gateway];
  const config::Router& router = topology.routers[g.router];
  const auto core = std::ranges::find(router.links, g.core.front()) - router.links.begin();
  Peers peers;
  std::vector<router::FibEntry<config::Ipv4Prefix>> ipv4;
  std::vector<router::FibEntry<config::Ipv6Prefix>> ipv6;
  for (const config::GatewayPeer& p : g.peers) {
    const auto number = static_cast<uint32_t>(peers.peers_.size() + 1);
    for (const auto& prefix : p.ipv4) ipv4.push_back({prefix, number});
    for (const auto& prefix : p.ipv6) ipv6.push_back({prefix, number});
    const bool v6 = std::holds_alternative<config::Ipv6>(p.address);
    Peer& peer = peers.peers_.emplace_back();
    peer.hop = {.action = router::NextHop::Action::kForward, .link = static_cast<uint16_t>(core)};
    peer.headers = static_cast<uint16_t>(headers[v6 ? 1 : 0]);
    peer.mtu = static_cast<uint16_t>(g.mtu.count());
    peer.set_mtu(peer.mtu);
    peers.frames_.push_back(frame_to(topology, g, p));
    peers.ends_.push_back(ends_of(peers.frames_.back()));
  }
  // The frames' address makes the name unique in the process.
  char name[32];
  std::snprintf(name, sizeof name, "g-%p", static_cast<const void*>(peers.frames_.data()));
  auto fib = router::Fib::build(name, ipv4, ipv6, socket, kind);
  if (!fib) return tl::unexpected("table of peers: " + fib.error());
  peers.fib_ = std::make_shared<const router::Fib>(std::move(*fib));
  return peers;
}

uint16_t Peers::accepted(size_t peer, uint16_t mtu) const {
  return std::max(mtu, ip_version(peer) == 6 ? uint16_t{config::kMinIpv6Mtu} : kMinMtu);
}

bool Peers::would_limit(size_t peer, uint16_t mtu) const {
  return accepted(peer, mtu) < peers_[peer].inner_mtu + peers_[peer].headers;
}

bool Peers::limit_mtu(size_t peer, uint16_t mtu, Nanos now) {
  if (!would_limit(peer, mtu)) return false;
  Peer& p = peers_[peer];
  p.set_mtu(accepted(peer, mtu));
  p.mtu_until = now + kMtuKnown;
  return true;
}

unsigned Peers::settle_claims(Nanos now) {
  unsigned held = 0;
  for (size_t i = 0; i < peers_.size(); ++i) {
    Peer& p = peers_[i];
    if (now < p.claim.until) continue;
    p.claim.until = kNever;
    const auto before = static_cast<uint16_t>(p.inner_mtu + p.headers);
    if (!limit_mtu(i, p.claim.mtu, now)) continue;
    p.claim.before = before;
    ++held;
  }
  return held;
}

Nanos Peers::next_claim() const {
  Nanos next = kNever;
  for (const Peer& p : peers_) next = std::min(next, p.claim.until);
  return next;
}

void Peers::refute_claim(size_t peer) {
  Peer& p = peers_[peer];
  if (p.claim.before != 0) {
    p.set_mtu(p.claim.before);
    if (p.claim.before == p.mtu) p.mtu_until = kNever;
  }
  p.claim = {};
}

void Peers::forget_mtus(Nanos now) {
  for (Peer& p : peers_) {
    if (now < p.mtu_until) continue;
    p.set_mtu(p.mtu);
    p.mtu_until = kNever;
    p.claim.before = 0;
  }
}

size_t Peers::sender_of(const uint8_t* ip, bool ipv6) const {
  const uint8_t* const addresses = ip + (ipv6 ? wire::kIpv6SourceAt : wire::kIpv4SourceAt);
  for (size_t i = 0; i < ends_.size(); ++i) {
    const Ends& ends = ends_[i];
    if (ends.ipv6 != ipv6) continue;
    if (std::memcmp(addresses, ends.in.data(), kIpv4Addresses) != 0) continue;
    if (!ipv6 || std::memcmp(addresses, ends.in.data(), ends.in.size()) == 0) return i;
  }
  return kNone;
}

}  // namespace turnpike::gateway
