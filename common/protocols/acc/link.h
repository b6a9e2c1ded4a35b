// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control at a router's egress link: strict priority for probes, and a virtual
// queueing delay.
#pragma once

#include <atomic>
#include <limits>
#include <span>

#include "common/protocols/acc/header.h"
#include "common/protocols/acc/params.h"
#include "common/protocols/link_law.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::acc {

/// Two queues; probes have strict priority. A drop-tail link has nothing more. With adaptive
/// virtual delay (AVD) a virtual queue receives the link's arrivals, at a capacity that adapts to
/// them, and probes add up the delays of the virtual queues on their path:
///
///     dVq/dt = y - Cv      dCv/dt = damping (utilisation C - y)      t_VD = Vq/Cv
///
/// Flows that control their accumulation then build it up in the virtual queue, and the link's own
/// queue stays empty. Lcores count arrivals; the link's owner advances the virtual queue once per
/// interval.
class Link final : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards);

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;
  uint64_t arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                  Nanos now) override;
  Nanos update(const LinkState& link, Nanos now) override;
  size_t gauges(std::span<Gauge> out) const override;

  [[nodiscard]] unsigned classify(const LinkPacket& p) const override {
    return p.header != nullptr && load(p.header).role == Role::kOutOfBand ? 0 : 1;
  }
  [[nodiscard]] double weight(unsigned queue_class) const override {
    return queue_class == 0 ? std::numeric_limits<double>::infinity() : 1;
  }

 private:
  static constexpr double kMinCapacity = 0.01;  // of the link's: keeps the delay's divisor above 0

  bool virtual_queue_;
  double damping_, utilisation_, interval_;
  Nanos last_{0};
  ShardSums<1> arrived_;  // B
  // The owner writes, any thread reads.
  std::atomic<double> capacity_{0}, queue_{0}, delay_{0};  // B/s, B, s
};

}  // namespace turnpike::acc
