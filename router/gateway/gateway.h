// SPDX-License-Identifier: BSD-3-Clause
// A gateway: carries customers' packets to other gateways in priced flows, and releases theirs.
//
// Example:
//
//     #include "common/config/load.h"
//     #include "common/dpdk/pool.h"
//
//     const auto topology = config::load_file("configs/gateway/two-sites.yaml");
//     const auto pool = Pool::create("gateway", {});
//     if (!topology || !pool) return;
//     auto west = gateway::Gateway::make(*topology, 0, {.pool = pool->get()});
//     if (!west) return;  // west.error() says why
//     // router.worker(0).set_tunnels(west->get()): the router's packets pass it from then on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "common/config/topology.h"
#include "router/control/customer_table.h"
#include "router/datapath/tunnel/tunnels.h"
#include "router/gateway/customer_traffic.h"
#include "router/gateway/packet_queue.h"
#include "router/gateway/peers.h"
#include "router/gateway/seal.h"
#include "router/gateway/tunnel.h"
#include "sender/connection/source.h"
#include "sender/host/received_packet.h"

namespace turnpike::gateway {

struct GatewayOptions {
  rte_mempool* pool = nullptr;
  uint64_t seed = 1;
  // Of ids, tokens and nonces; none: made from the seed, which is secure in no network. With keys
  // that another process uses, too, it must be random, so that no nonce is used twice.
  std::optional<sender::SecretKey> secret = {};
  unsigned tick_shift = 0;                        // timers fire on ticks of 2^tick_shift ns
  bool populated = true;                          // touch the tables' memory at construction
  int socket = -1;                                // NUMA node of tables; -1: any
  router::FibKind fib = router::FibKind::kTable;  // of the prefixes behind peers
};

/// Counters of a gateway. Its lcore writes, any thread reads.
struct GatewayTotals {
  metrics::Counter entered_packets, entered_bytes;    // customers' packets that were queued
  metrics::Counter released_packets, released_bytes;  // packets that left a tunnel here
  metrics::Counter unknown_customers;  // forwarded outside of tunnels: of no customer
  metrics::Counter outside;            // likewise: their peer does not answer
  metrics::Counter bypassed;           // likewise: their customer is bypassed
  metrics::Counter bad_packets;     // of tunnels: checksum, header, or payload that is no datagram
  metrics::Counter unknown_peers;   // tunnel packets from an address of no peer
  metrics::Counter ecn_drops;       // marked in the core, and their flow would not understand it
  metrics::Counter out_of_buffers;  // no reply or not released: no free buffer
  metrics::Counter silent_drops;    // packets that waited for a peer when it fell silent
  metrics::Counter mtu_reductions;  // a smaller path MTU to a peer became known
  metrics::Counter no_flow;         // packets whose tunnel could not open: the flow table is full
  // Where tunnels are sealed, packets of a flow with a right token, and answers to it, that were
  // refused, since:
  metrics::Counter forged;        // their tag is wrong, or their key is unknown
  metrics::Counter unknown_keys;  // of those: no key of the peer has their id
  metrics::Counter unsealed;      // they are not sealed
};

/// Polled by the worker of its router, whose thread makes all calls.
class Gateway final : public router::Tunnels {
 public:
  static constexpr unsigned kSilentTimeouts = 2;  // in a row: the peer counts as silent
  static constexpr Nanos kProbe = 500_ms;         // between attempts to reach a silent peer

  /// `index`: into Topology::gateways. The topology and the pool outlive the gateway.
  static tl::expected<std::unique_ptr<Gateway>, std::string> make(const config::Topology& topology,
                                                                  size_t index,
                                                                  const GatewayOptions& options);
  ~Gateway() override;

  void enter(router::Burst& burst, router::WorkerContext& context) override;
  void receive(router::Burst& burst, router::WorkerContext& context) override;
  Nanos poll(Nanos now) override;
  Origin fill(router::Burst& burst, Nanos now) override;
  void restrict(router::Burst& burst) override;
  void refused(const router::Burst& burst) override;
  void stalled(Nanos now) override { lcore_.last_stall_end = now; }
  /// The router ends: drops what waits for tunnels, and returns the number of these packets. Call
  /// when the worker has stopped.
  uint32_t end();

  /// The customers have the budgets and ceilings of `wanted` from now on, which has the same
  /// customers. Call while the worker is held between two polls. Does not allocate.
  void take_customers(const config::Topology& wanted);

  /// The keys of `wanted`, for take_keys(); null: tunnels are not sealed. Any thread.
  [[nodiscard]] tl::expected<std::unique_ptr<KeyRing>, std::string> prepare_keys(
      const config::Topology& wanted) const;
  /// Seals and opens with these keys from now on, and leaves the ones until now in their place.
  /// Call while the worker is held between two polls. Does not allocate.
  void take_keys(std::unique_ptr<KeyRing>& keys) {
    if (seal_ && keys) seal_->exchange(keys);
  }
  /// Whether packets of tunnels are encrypted.
  [[nodiscard]] bool sealed() const { return seal_.has_value(); }

  /// From now on a customer's packets go outside of tunnels, without a price, or again through
  /// them. Packets that wait go through their tunnel in any case. Any thread.
  void bypass(size_t customer, bool on) {
    customers_[customer]->bypassed.store(on, std::memory_order_relaxed);
  }
  [[nodiscard]] bool bypassed(size_t customer) const {
    return customers_[customer]->bypassed.load(std::memory_order_relaxed);
  }
  /// The index of a customer. Any thread.
  [[nodiscard]] std::optional<size_t> find_customer(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] const GatewayTotals& totals() const { return totals_; }
  /// Most that its tunnels send, B/s; infinite: no bound. Any thread.
  [[nodiscard]] double ceiling(size_t customer) const {
    return customers_[customer]->ceiling.load(std::memory_order_relaxed);
  }
  /// A customer's flows.
  [[nodiscard]] const sender::HostTotals& customer(size_t customer) const {
    return customers_[customer]->totals;
  }
  [[nodiscard]] const CustomerTraffic& traffic(size_t customer) const {
    return customers_[customer]->traffic;
  }
  /// A customer's tunnels: by class, then by peer.
  [[nodiscard]] std::span<const std::unique_ptr<Tunnel>> tunnels(size_t customer) const {
    const size_t each = own_.classes.size() * peers_.size();
    return std::span(tunnels_).subspan(customer * each, each);
  }
  [[nodiscard]] const Peers& peers() const { return peers_; }
  /// Whether a peer does not answer. Any thread.
  [[nodiscard]] bool silent(size_t peer) const {
    return silent_[peer].load(std::memory_order_relaxed);
  }
  /// Waiting times of datagrams, ns. Any thread.
  [[nodiscard]] const metrics::SharedHistogram& waits() const { return waits_; }
  /// Packets of tunnels that have come, and those that were refused.
  [[nodiscard]] const sender::HostTotals& received() const { return received_; }
  /// Packets lost because no buffer was free for the headers of their tunnel.
  [[nodiscard]] uint64_t without_headers() const {
    return tunnel_parts_[0].out_of_buffers.read() + tunnel_parts_[1].out_of_buffers.read();
  }
  /// Packets lost because they could not be sealed.
  [[nodiscard]] uint64_t not_sealed() const {
    return tunnel_parts_[0].not_sealed.read() + tunnel_parts_[1].not_sealed.read();
  }
  /// The topology that the gateway was made from.
  [[nodiscard]] const config::Topology& topology() const { return topology_; }
  [[nodiscard]] const config::Gateway& configuration() const { return own_; }

 private:
  // One customer's budget and flows.
  struct Customer {
    explicit Customer(double least_price) : traffic(least_price) {}

    sender::HostTotals totals;
    CustomerTraffic traffic;
    std::optional<sender::Source> source;
    std::atomic<double> ceiling{0};  // B/s
    std::atomic<bool> bypassed{false};
    Nanos next_share{0};
  };
  // Flows' outcomes: their customers count them.
  struct NoOutcomes final : sender::OutcomeSink {
    void flow_ended(const sender::FlowOutcome&) override {}
  };

  Gateway(const config::Topology& topology, size_t index, const GatewayOptions& options,
          std::vector<sender::FlowClass> kinds, Peers peers, std::unique_ptr<KeyRing> keys);
  void make_customers();
  [[nodiscard]] TunnelParts parts_for(const sender::FlowClass& kind);

  [[nodiscard]] Tunnel& tunnel_of(size_t customer, size_t class_index, size_t peer) {
    return *tunnels_[(customer * own_.classes.size() + class_index) * peers_.size() + peer];
  }
  /// Flows of a class to peers of an IP version.
  [[nodiscard]] const sender::FlowClass& kind_of(size_t class_index, unsigned ip_version) const {
    return kinds_[class_index * 2 + (ip_version == 6)];
  }
  void set_ceiling(uint32_t customer, const config::Customer& configured);
  /// Shares a customer's ceiling among its tunnels, where that is due.
  void share_ceiling(uint32_t customer, Nanos now);
  /// The class of a packet.
  [[nodiscard]] size_t class_of(const rte_mbuf& m, const router::PacketInfo& p) const;
  /// Takes a packet into its tunnel's queue.
  void enter(rte_mbuf* m, const router::PacketInfo& p, Tunnel& tunnel, Nanos now);
  /// No tunnel takes a packet from a customers' link.
  void pass_outside(router::Burst& burst, unsigned i) const;
  /// Drops packets that have come in the clear from behind a peer.
  void refuse_clear(router::Burst& burst) const;
  [[nodiscard]] bool is_core_address(const uint8_t* ip, bool ipv6) const;
  /// The flow of a tunnel whose customer's budget has changed follows it.
  void revalue(const Tunnel& tunnel, Nanos now);
  /// Has the flows of `ready_` send what is due.
  void send_ready(Nanos now);
  void carry(Tunnel& tunnel, Nanos now);
  void open(Tunnel& tunnel, Nanos now);
  /// `flow` of `tunnel` has received an answer, or its timer has fired.
  void after_event(const sender::Flow& flow, Tunnel& tunnel, Nanos now);
  void after_failure(Tunnel& tunnel, Nanos now);
  /// Tries to reach the peers that do not answer, where that is due.
  void seek_silent(Nanos now);
  /// Publishes figures of some customers, and closes tunnels without packets.
  void sweep(Nanos now);
  void receive(rte_mbuf* m, Nanos now);
  /// An ICMP message to this router from the core: a tunnel's packet may have been too big.
  void take_error(const rte_mbuf& m, const router::PacketInfo& p, Nanos now);
  /// Lowers the MTU to peers where the packet that was too big counts as lost.
  void settle_claims(Nanos now);
  /// An answer to a packet of the flow whose packet was said to be too big.
  void check_claim(size_t peer, const sender::AckInfo& answer);
  class Opening;
  void describe(router::Burst& burst, unsigned i) const;
  bool take_request(rte_mbuf& m, const sender::ReceivedPacket& arrival, size_t peer, Nanos now);
  void take_answer(uint8_t* frame, const sender::ReceivedPacket& arrival, Nanos now);
  void reply(const uint8_t* frame, const sender::ReceivedPacket& arrival, size_t peer,
             const sender::Reply& answer);
  /// Whether the sealed payload of a packet or an answer is the peer's; counts those that are not.
  bool accept(Seal::Opened opened);
  [[nodiscard]] bool authenticate(rte_mbuf& reply, const wire::UdpFrame& at, size_t peer);
  /// Whether an answer to the tunnel's flow is its peer's, where tunnels are sealed.
  bool authentic(uint8_t* frame, const sender::ReceivedPacket& arrival, const sender::Flow& flow,
                 size_t peer);

  const config::Topology& topology_;
  const config::Gateway& own_;
  rte_mempool* pool_;
  GatewayTotals totals_;
  std::vector<bool> core_;               // by index among the router's links
  uint16_t core_link_ = 0;               // the first
  std::vector<config::Ipv4> core_ipv4_;  // this router's addresses on core links
  std::vector<config::Ipv6> core_ipv6_;
  wire::Mac station_{};  // its MAC
  uint32_t seed_;        // of the hashes of inner flows and hosts
  NoOutcomes outcomes_;
  sender::LcoreState lcore_;
  std::vector<sender::FlowClass> kinds_;  // by class; for each, to IPv4 and to IPv6 peers
  Peers peers_;
  std::optional<Seal> seal_;               // none: packets go in the clear
  std::vector<std::atomic<bool>> silent_;  // by peer
  sender::Paths paths_;
  PacketQueue flows_port_, released_;  // towards the core; from tunnels
  sender::TxBuffer tx_;
  sender::HostTotals received_;  // of the receiver
  std::unique_ptr<sender::Receiver> receiver_;
  std::unique_ptr<const router::CustomerTable> table_;
  QueuePool queues_;
  metrics::SharedHistogram waits_;
  std::array<TunnelParts, 2> tunnel_parts_;  // to IPv4 and to IPv6 peers
  std::vector<std::unique_ptr<Customer>> customers_;
  std::unordered_map<std::string_view, size_t> places_;  // in customers_, by name
  std::vector<std::unique_ptr<Tunnel>> tunnels_;         // by customer, then class, then peer
  std::vector<Tunnel*> ready_;  // those that have got packets since the last send_ready()
  size_t hand_ = 0;             // tunnel that sweep() looks at next
  Nanos next_sweep_{0};
  Nanos next_attempt_ = kNever;  // to reach a silent peer
  Nanos next_claim_ = kNever;    // that a packet was too big, to settle
};

}  // namespace turnpike::gateway
