// SPDX-License-Identifier: BSD-3-Clause
// Accumulation-based control at a router's egress link: probes first, and a virtual delay.
#pragma once

#include <atomic>
#include <limits>
#include <span>

#include "common/protocols/acc/header.h"
#include "common/protocols/acc/params.h"
#include "common/protocols/link_law.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::acc {

/// Two queues, that of probes before all others. A drop-tail link is no more than that. With
/// adaptive virtual delay (AVD) a virtual queue gets the same arrivals as the link, at a capacity
/// that follows what arrives, and probes add up the delays of the virtual queues that they pass:
///
///     dVq/dt = y - Cv      dCv/dt = damping (utilisation C - y)      t_VD = Vq/Cv
///
/// so that flows which steer their accumulations make it wait there and leave the link's own empty.
/// Lcores add up what arrives; the link's owner moves the virtual queue on once per interval.
class Link final : public LinkLaw {
 public:
  Link(const ParamValues& params, unsigned shards);

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
  static constexpr double kMinCapacity = 0.01;  // of the link's: a delay needs a divisor

  bool virtual_queue_;
  double damping_, utilisation_, interval_;
  Nanos last_{0};
  ShardSums<1> arrived_;  // B
  // The owner writes, anybody reads.
  std::atomic<double> capacity_{0}, queue_{0}, delay_{0};  // B/s, B, s
};

}  // namespace turnpike::acc
