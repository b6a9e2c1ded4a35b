// SPDX-License-Identifier: BSD-3-Clause
// One lcore's part of a gateway: its customers with their tunnels, and the tunnels that end there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/config/topology.h"
#include "router/datapath/tunnel/tunnels.h"
#include "router/gateway/customer_traffic.h"
#include "router/gateway/hand_over.h"
#include "router/gateway/packet_queue.h"
#include "router/gateway/parts.h"
#include "router/gateway/peers.h"
#include "router/gateway/seal.h"
#include "router/gateway/too_big.h"
#include "router/gateway/totals.h"
#include "router/gateway/tunnel.h"
#include "sender/connection/source.h"
#include "sender/host/received_packet.h"

namespace turnpike::gateway {

/// Polled by one worker of the gateway's router, whose thread makes all calls that do not say
/// otherwise. Hands packets of other shards' customers and flows over to these.
class alignas(64) Shard final : public router::Tunnels {
 public:
  static constexpr unsigned kSilentTimeouts = 2;  // in a row: the peer counts as silent
  static constexpr Nanos kProbe = 500_ms;         // between attempts to reach a silent peer

  /// The shard of worker `lcore`. `parts` outlives it. `keys`: null: tunnels are not sealed.
  Shard(const SharedParts& parts, unsigned lcore, std::unique_ptr<KeyRing> keys);
  ~Shard() override;

  bool take_handed(router::Burst& burst, Nanos now) override { return inbox_.fill(burst, now); }
  void enter(router::Burst& burst, router::WorkerContext& context) override;
  void receive(router::Burst& burst, router::WorkerContext& context) override;
  Nanos poll(Nanos now) override;
  Origin fill(router::Burst& burst, Nanos now) override;
  void restrict(router::Burst& burst) override;
  void refused(const router::Burst& burst) override;
  void stalled(Nanos now) override { state_.last_stall_end = now; }

  /// See Gateway. `customer`: its place among this shard's.
  uint32_t end();
  void take_customer(size_t customer, const config::Customer& changed);
  void take_keys(std::unique_ptr<KeyRing>& keys) {
    if (seal_ && keys) seal_->exchange(keys);
  }
  [[nodiscard]] bool sealed() const { return seal_.has_value(); }
  void bypass(size_t customer, bool on) {
    customers_[customer]->bypassed.store(on, std::memory_order_relaxed);
  }
  [[nodiscard]] bool bypassed(size_t customer) const {
    return customers_[customer]->bypassed.load(std::memory_order_relaxed);
  }
  [[nodiscard]] double ceiling(size_t customer) const {
    return customers_[customer]->ceiling.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const sender::HostTotals& customer(size_t customer) const {
    return customers_[customer]->totals;
  }
  [[nodiscard]] const CustomerTraffic& traffic(size_t customer) const {
    return customers_[customer]->traffic;
  }
  [[nodiscard]] std::span<const std::unique_ptr<Tunnel>> tunnels(size_t customer) const {
    const size_t each = own_.classes.size() * peers_.size();
    return std::span(tunnels_).subspan(customer * each, each);
  }
  [[nodiscard]] const Peers& peers() const { return peers_; }
  [[nodiscard]] bool silent(size_t peer) const {
    return silent_[peer].load(std::memory_order_relaxed);
  }
  [[nodiscard]] const metrics::SharedHistogram& waits() const { return waits_; }
  [[nodiscard]] const GatewayTotals& totals() const { return totals_; }
  [[nodiscard]] const sender::HostTotals& received() const { return received_; }

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

  void make_customers();
  [[nodiscard]] TunnelParts parts_for(const sender::FlowClass& kind);

  [[nodiscard]] Tunnel& tunnel_of(size_t customer, size_t class_index, size_t peer) {
    return *tunnels_[(customer * own_.classes.size() + class_index) * peers_.size() + peer];
  }
  /// Flows of a class to peers of an IP version.
  [[nodiscard]] const sender::FlowClass& kind_of(size_t class_index, unsigned ip_version) const {
    return parts_.kinds[class_index * 2 + (ip_version == 6)];
  }
  void set_ceiling(uint32_t customer, const config::Customer& configured);
  /// Shares a customer's ceiling among its tunnels, where that is due.
  void share_ceiling(uint32_t customer, Nanos now);
  /// The class of a packet.
  [[nodiscard]] size_t class_of(const rte_mbuf& m, const router::PacketInfo& p) const;
  /// Gives packet i to the shard of another lcore, or drops it. `owner`: its customer or flow.
  void hand_over(router::Burst& burst, unsigned i, unsigned to, size_t owner,
                 router::WorkerContext& context);
  /// Takes a packet into its tunnel's queue.
  void enter(rte_mbuf* m, const router::PacketInfo& p, Tunnel& tunnel, Nanos now);
  /// No tunnel takes a packet from a customers' link.
  void pass_outside(router::Burst& burst, unsigned i) const;
  /// Drops packets that have come in the clear from behind a peer.
  void refuse_clear(router::Burst& burst) const;
  [[nodiscard]] bool is_core_address(const uint8_t* ip, bool ipv6) const;
  /// The flow of a tunnel whose customer's budget has changed follows it.
  void revalue(Tunnel& tunnel, Nanos now);
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
  /// An ICMP error from the core: a tunnel's packet may have been too big.
  void take_error(const TooBig& error, Nanos now);
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

  const SharedParts& parts_;
  const config::Topology& topology_;
  const config::Gateway& own_;
  rte_mempool* pool_;
  unsigned index_;  // of this lcore
  GatewayTotals totals_;
  std::vector<bool> core_;               // by index among the router's links
  uint16_t core_link_ = 0;               // the first
  std::vector<config::Ipv4> core_ipv4_;  // this router's addresses on core links
  std::vector<config::Ipv6> core_ipv6_;
  wire::Mac station_{};  // its MAC
  uint32_t seed_;        // of the hashes of inner flows and hosts
  NoOutcomes outcomes_;
  sender::LcoreState state_;
  Peers peers_;
  std::optional<Seal> seal_;               // none: packets go in the clear
  std::vector<std::atomic<bool>> silent_;  // by peer
  sender::Paths paths_;
  PacketQueue flows_port_, released_;  // towards the core; from tunnels
  sender::TxBuffer tx_;
  sender::HostTotals received_;  // of the receiver
  std::unique_ptr<sender::Receiver> receiver_;
  QueuePool queues_;
  metrics::SharedHistogram waits_;
  std::array<TunnelParts, 2> tunnel_parts_;  // to IPv4 and to IPv6 peers
  std::vector<std::unique_ptr<Customer>> customers_;
  std::vector<std::unique_ptr<Tunnel>> tunnels_;  // by customer, then class, then peer
  Inbox inbox_;                                   // packets that other lcores have handed over
  std::vector<Tunnel*> ready_;  // those that have got packets since the last send_ready()
  size_t hand_ = 0;             // tunnel that sweep() looks at next
  Nanos next_sweep_{0};
  Nanos next_attempt_ = kNever;  // to reach a silent peer
  Nanos next_claim_ = kNever;    // that a packet was too big, to settle
};

/// B of a tunnel's packet beside its datagrams.
uint32_t overhead_of(const config::Gateway& gateway, const sender::FlowClass& kind);

}  // namespace turnpike::gateway
