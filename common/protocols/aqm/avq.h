// SPDX-License-Identifier: BSD-3-Clause
// Adaptive virtual queue (Kunniyur and Srikant 2001): the queue that a smaller link would have.
#pragma once

#include <array>
#include <vector>

#include "common/protocols/aqm/disciplines.h"

namespace turnpike::aqm {

/// At an arrival of b bytes, the last having been at s:
///
///     VQ <- max(0, VQ - C_v (t - s)); signal if VQ + b > B, else VQ <- VQ + b
///     C_v <- max(min(C_v + alpha gamma C (t - s), C) - alpha b, 0)
///
/// which is dC_v/dt = alpha (gamma C - input). Every lcore continues from the latest published view
/// and adds the arrivals since; with one lcore this is exactly the equations.
class Avq : public DropTail {
 public:
  static constexpr bool kMarksOrDrops = true;

  Avq(const ParamValues& params, unsigned shards, uint64_t seed);
  void take_settings(const Avq& made) {
    damping_ = made.damping_;
    utilization_ = made.utilization_;
  }
  void burst(unsigned shard, const LinkState& link, Nanos now);
  AqmAction decide(unsigned shard, const Arrival& a);
  /// virtual_capacity_mbps, virtual_queue_kb.
  size_t gauges(std::span<Gauge> out) const;

 private:
  // C_v in B/s, VQ in B, time in ns, bytes that came and those of them that entered VQ.
  enum Figure : size_t { kCapacity, kQueue, kAt, kOffered, kEntered, kFigures };
  struct alignas(64) Shard {
    SharedView<kFigures> view;
    SharedView<kFigures>::Values own{};  // the latest view as this lcore has brought it forward
    double buffer = 0;                   // B
  };

  double damping_, utilization_;
  SharedCount offered_, entered_;
  std::vector<Shard> shards_;
};

}  // namespace turnpike::aqm
