// SPDX-License-Identifier: BSD-3-Clause
// A link that a scheme shares with TCP: two queues and two laws, and weights between them.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>

#include "common/protocols/coexistence/share.h"
#include "common/protocols/link_law.h"
#include "common/protocols/param.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::coexistence {

/// What a packet tells of its flow, summed over a round trip's packets: the ratio of the sums is
/// the mean over flows, for each sends as many bytes as its window.
struct Told {
  double flow = 0;         // s; s rtt/cwnd: how much of a flow it is
  double flow_window = 0;  // B s, times its window
  double flow_rtt = 0;     // s^2, times its round trip
};

/// Reads a scheme's header of a packet of `size` B; nothing where it does not tell, or cannot be
/// believed.
using Reader = Told (*)(const uint8_t* header, uint32_t size);

/// XCP's section 8.2, which QCP's section 11 takes over: packets of the scheme queue and are
/// controlled by its law, which takes its share of the link for its capacity; all others queue
/// under a discipline of TCP's. So it is with the buffer. Once per round trip the shares move
/// towards windows that are alike: the scheme's as packets name them, TCP's by what it loses
/// (share.h). Either queue may use what the other leaves. Needs queues of the router's: a port that
/// sends at line rate has but one.
class Link final : public LinkLaw {
 public:
  /// `kappa` per round trip; `loss_memory` in round trips.
  Link(std::unique_ptr<LinkLaw> own, std::unique_ptr<LinkLaw> tcp, Reader read, double kappa,
       double loss_memory, unsigned shards);

  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  void depart(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
              Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;

  [[nodiscard]] unsigned classify(const LinkPacket& p) const override {
    return p.header != nullptr ? kOwn : kTcp;
  }
  [[nodiscard]] double weight(unsigned queue_class) const override;

  /// The scheme's own, and tcp_share, tcp_loss, tcp_window_packets, own_window_packets.
  size_t gauges(std::span<Gauge> out) const override;

 private:
  enum Class : unsigned { kOwn, kTcp };
  enum Field : size_t { kFlow, kFlowWindow, kFlowRtt, kPackets, kBytes, kLost, kFields };

  [[nodiscard]] LinkLaw& law(Class c) { return c == kOwn ? *own_ : *tcp_; }
  [[nodiscard]] LinkState part(const LinkState& link, Class c) const;
  void count(unsigned index, std::span<const LinkPacket> burst, Class c);
  void step();

  std::unique_ptr<LinkLaw> own_, tcp_;
  Reader read_;
  double loss_gain_;
  Share share_;
  ShardSums<kFields> sums_;
  double packet_ = 1000;        // B, mean of what is not the scheme's
  std::array<Nanos, 2> due_{};  // of the two laws, by class
  Nanos step_due_{0};
  Nanos rtt_{100_ms};  // until flows name theirs
  // The owner writes, anybody reads.
  std::atomic<double> tcp_share_{0.5}, loss_{0}, tcp_window_{0}, own_window_{0};  // packets
};

/// `own` alone, or with a queue of TCP's beside it, as `params` from `first` on say (params.h).
std::unique_ptr<LinkLaw> beside_tcp(std::unique_ptr<LinkLaw> own, Reader read,
                                    const ParamValues& params, size_t first, unsigned shards,
                                    uint64_t seed);

}  // namespace turnpike::coexistence
