// SPDX-License-Identifier: BSD-3-Clause
// A link that a scheme shares with TCP: two queues, a law for each, and weights between them.
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

/// A packet's contribution to sums over a round trip. Ratios of the sums are means over flows,
/// since each flow sends its window in bytes per round trip.
struct Told {
  double flow = 0;         // s; s rtt/cwnd, summed over a round trip: the flow's rtt
  double flow_window = 0;  // B s, times its window
  double flow_rtt = 0;     // s^2, times its round trip
};

/// Reads a scheme's header of a packet of `size` B; all zero if it has no round trip or is not
/// credible.
using Reader = Told (*)(const uint8_t* header, uint32_t size);

/// XCP's section 8.2, also used by QCP's section 11. Packets of the scheme have a queue and the
/// scheme's law, which sees its share of the link's capacity and buffer; all other packets have a
/// queue with a discipline of TCP's. Once per round trip the shares move towards equal windows: the
/// scheme's windows are in its headers, TCP's follow from its loss (share.h). Each queue may use
/// capacity that the other leaves. Needs a shaped link: a port at line rate has a single queue.
class Link final : public LinkLaw {
 public:
  /// `kappa` per round trip; `loss_memory` in round trips.
  Link(std::unique_ptr<LinkLaw> own, std::unique_ptr<LinkLaw> tcp, Reader read, double kappa,
       double loss_memory, unsigned shards);

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  void depart(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
              Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;

  [[nodiscard]] unsigned classify(const LinkPacket& p) const override {
    return p.header != nullptr ? kOwn : kTcp;
  }
  [[nodiscard]] double weight(unsigned queue_class) const override;

  /// The scheme's own gauges, and tcp_share, tcp_loss, tcp_window_packets, own_window_packets.
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
  double loss_gain_, kappa_;
  Share share_;
  ShardSums<kFields> sums_;
  double packet_ = 1000;        // B, mean of TCP's packets
  std::array<Nanos, 2> due_{};  // next updates of the two laws, by class
  Nanos step_due_{0};
  Nanos rtt_{100_ms};  // until packets carry one
  // The owner writes, any thread reads.
  std::atomic<double> tcp_share_{0.5}, loss_{0}, tcp_window_{0}, own_window_{0};  // packets
};

/// Returns `own`, or `own` with a queue of TCP's beside it, by the parameters of params.h, which
/// begin at index `first` of `params`.
std::unique_ptr<LinkLaw> beside_tcp(std::unique_ptr<LinkLaw> own, Reader read,
                                    const ParamValues& params, size_t first, unsigned shards,
                                    uint64_t seed);

}  // namespace turnpike::coexistence
