// SPDX-License-Identifier: BSD-3-Clause
// A small router with ports in memory, for the tests of the router's folders.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <rte_mbuf.h>

#include "common/config/topology.h"
#include "common/dpdk/queue_pair.h"
#include "common/wire/frame_builder.h"
#include "common/wire/turnpike_header.h"
#include "router/router.h"
#include "tests/support/router_topology.h"

namespace turnpike::router::test {

using Frame = std::vector<uint8_t>;

/// The router with its ports. Checks at its end that every packet was accounted for and that no
/// buffer leaked.
class World {
 public:
  explicit World(unsigned workers = 1, const config::Topology& t = topology(),
                 RouterOptions options = {});
  ~World();

  /// Puts a frame into a link's port, in segments of `segment` B each (0: one segment).
  void arrive(size_t link, const Frame& frame, unsigned worker = 0, size_t segment = 0);
  /// Polls all workers at `when` until they have taken all frames that have arrived.
  Nanos poll(Nanos when);
  /// Polls at every deadline before `end`.
  void run_until(Nanos end);
  /// Frames that left by a link since the last call.
  std::vector<Frame> sent(size_t link);
  /// The same for a link from which exactly one frame is expected; fails the test otherwise.
  Frame only(size_t link);

  [[nodiscard]] uint64_t drops(DropReason why) const;
  /// Fails the test unless all counters add up and `why` is the one reason for one drop.
  void expect_one_drop(DropReason why) const;

  MemoryPort& port(size_t link, unsigned worker = 0) { return *ports_[link][worker]; }
  Router& router() { return *router_; }
  [[nodiscard]] Snapshot snapshot() const { return router_->snapshot(); }
  rte_mempool* pool() { return pool_; }
  Nanos now{1'000'000'000};

 private:
  rte_mempool* pool_;
  unsigned free_before_;
  std::vector<std::vector<std::unique_ptr<MemoryPort>>> ports_;
  std::unique_ptr<Router> router_;
};

// --- frames -------------------------------------------------------------------------------------

uint32_t ipv4(std::string_view text);
config::Ipv6 ipv6(std::string_view text);

/// Ethernet from the host of `link` to the router.
Frame ethernet(size_t link, uint16_t type, const Frame& payload, std::optional<uint16_t> vlan = {});

struct Ipv4Spec {
  std::string_view source = "10.0.1.2", destination = "10.0.2.2";
  uint8_t protocol = 17, ttl = 64;
  uint16_t fragment = 0, id = 7;
  Frame options = {};
};
Frame ipv4_datagram(const Ipv4Spec& spec, const Frame& payload);
struct Ipv6Spec {
  std::string_view source = "fd00:1::2", destination = "fd00:2::2";
  uint8_t next = 17, hop_limit = 64;
};
Frame ipv6_datagram(const Ipv6Spec& spec, const Frame& payload);
Frame udp(uint16_t source, uint16_t destination, const Frame& payload);  // checksum zero
Frame bytes(size_t n, uint8_t seed = 1);
/// ICMP or ICMPv6 message with a right checksum (the latter over the addresses of `at`).
Frame icmp(uint8_t type, uint8_t code, uint32_t rest, const Frame& payload);
Frame icmp6(const Ipv6Spec& at, uint8_t type, uint8_t code, uint32_t rest, const Frame& payload);

/// Either in Ethernet from the left host.
Frame v4(const Ipv4Spec& spec, const Frame& payload = udp(1, 2, bytes(30)));
Frame v6(const Ipv6Spec& spec, const Frame& payload = udp(1, 2, bytes(30)));

/// UDP from the left host to the right one, with right checksums; `datagram` B.
Frame plain(uint16_t datagram, bool v6 = false, std::optional<uint16_t> vlan = {});

struct FcpSpec {
  wire::Kind kind = wire::Kind::kData;
  uint32_t rtt_ns = 20'000'000;
  float price = 0, preload = 0, balance = 0;
  uint16_t datagram = 1500;
  bool v6 = false;
  bool checksum = true;
  std::string_view source = "10.0.1.2", destination = "10.0.2.2";
  std::string_view destination6 = "fd00:2::2";
  uint32_t sequence = 0;
  const uint8_t* header = nullptr;  // the congestion header, instead of the fields above
};
Frame fcp(const FcpSpec& spec);
/// The price in a frame of fcp(); -1: it is not such a frame.
float price_of(const Frame& frame);

/// Why a frame that left the router is invalid, by plain checksums of whole datagrams: IPv4 header,
/// UDP, ICMP and ICMPv6. Empty: it is valid.
std::string unsound(const Frame& frame);

}  // namespace turnpike::router::test
