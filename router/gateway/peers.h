// SPDX-License-Identifier: BSD-3-Clause
// The other gateways: which destinations are behind which, and whether they answer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "common/wire/frame_builder.h"
#include "common/wire/layers.h"
#include "router/control/fib.h"
#include "router/control/next_hop.h"

namespace turnpike::gateway {

/// A router's word that a packet was too big. It holds once the packet counts as lost, and no
/// longer when the packet's answer comes after all: a packet that has arrived was not too big.
struct MtuClaim {
  Nanos until = kNever;             // then the packet counts as lost; kNever: no claim waits
  uint32_t flow = 0, sequence = 0;  // of the packet; flow 0: there was no claim
  uint16_t mtu = 0;                 // B
  uint16_t before = 0;              // B of a tunnel's packet before the claim held; 0: it does not
};

struct Peer {
  router::NextHop hop{};    // of datagrams that are larger: names the MTU in ICMP errors
  Nanos next_attempt{0};    // to reach it, while it does not answer
  uint32_t seeker = 0;      // the tunnel that makes these
  MtuClaim claim = {};      // the newest
  Nanos mtu_until{kNever};  // the path's MTU counts as known; kNever: it is the configured one
  uint16_t inner_mtu = 0;   // B of the largest datagram that a tunnel to it carries now
  uint16_t headers = 0;     // B of a tunnel's packet before its payload
  uint16_t mtu = 0;         // B of a tunnel's packet, as configured

  void set_mtu(uint16_t packet) {
    inner_mtu = static_cast<uint16_t>(packet - headers);
    hop.mtu = inner_mtu;
  }
};

/// Used by one lcore; a copy is another lcore's.
class Peers {
 public:
  /// `headers`: B of a tunnel's packet beside its datagrams, by IP version: [0] IPv4, [1] IPv6.
  static tl::expected<Peers, std::string> make(const config::Topology& topology, size_t gateway,
                                               std::array<uint32_t, 2> headers, int socket,
                                               router::FibKind kind = router::FibKind::kTable);

  /// Writes for each destination the number of the peer that it is behind, from 1 on; 0: none.
  void find(std::span<const uint32_t> destinations, uint64_t* out) const {
    fib_->find(destinations, out);
  }
  void find(std::span<const config::Ipv6> destinations, uint64_t* out) const {
    fib_->find(destinations, out);
  }

  [[nodiscard]] Peer& operator[](size_t i) { return peers_[i]; }
  [[nodiscard]] const Peer& operator[](size_t i) const { return peers_[i]; }
  [[nodiscard]] size_t size() const { return peers_.size(); }

  /// A link on the way to a peer takes packets of `mtu` B at most. Returns whether that is less
  /// than was known. No less than IPv6's least MTU or 576 B is accepted: a smaller one is a mistake
  /// or an attack. It holds for ten minutes (RFC 1191 section 6.3).
  bool limit_mtu(size_t peer, uint16_t mtu, Nanos now);
  /// Whether limit_mtu() would lower the MTU.
  [[nodiscard]] bool would_limit(size_t peer, uint16_t mtu) const;
  /// Makes the claims hold whose packets count as lost by now. Returns their number.
  unsigned settle_claims(Nanos now);
  /// When settle_claims() has something to do.
  [[nodiscard]] Nanos next_claim() const;
  /// The claim's packet has been answered: gives back the MTU from before.
  void refute_claim(size_t peer);
  /// Gives back the configured MTU where that time is over.
  void forget_mtus(Nanos now);

  /// Headers of the packets to each peer.
  [[nodiscard]] std::span<const wire::FrameSpec> frames() const { return frames_; }
  /// IP version of the packets to a peer.
  [[nodiscard]] unsigned ip_version(size_t i) const {
    return std::holds_alternative<wire::Ipv6Pair>(frames_[i].addresses) ? 6 : 4;
  }

  static constexpr size_t kNone = SIZE_MAX;
  /// The peer that a tunnel's packet for this gateway comes from; kNone: none, or it is for another
  /// address. `ip`: its IP header.
  [[nodiscard]] size_t sender_of(const uint8_t* ip, bool ipv6) const;

 private:
  static constexpr size_t kIpv4Addresses = 2 * sizeof(wire::Ipv4Address);
  // Source and destination of a peer's packets, as their IP headers have them.
  struct Ends {
    std::array<uint8_t, 2 * sizeof(wire::Ipv6Address)> in{};
    bool ipv6 = false;
  };
  static Ends ends_of(const wire::FrameSpec& frame);
  /// B of a tunnel's packet that a claim of `mtu` allows.
  [[nodiscard]] uint16_t accepted(size_t peer, uint16_t mtu) const;

  std::vector<Peer> peers_;
  std::vector<wire::FrameSpec> frames_;
  std::vector<Ends> ends_;
  std::shared_ptr<const router::Fib> fib_;  // of all copies
};

}  // namespace turnpike::gateway
