// SPDX-License-Identifier: BSD-3-Clause
// RIO (Clark and Fang 1998): RED with in and out, one queue and two thresholds.
#pragma once

#include <vector>

#include "common/protocols/aqm/disciplines.h"

namespace turnpike::aqm {

/// RED decides on packets within their profile by the average queue of such packets, and on the
/// others by the average of all: when the queue grows, the others signal first.
class Rio : public DropTail {
 public:
  static constexpr bool kMarksOrDrops = true, kWantsDequeue = true;

  Rio(const ParamValues& params, unsigned shards, uint64_t seed);
  void take_settings(const Rio& made) {
    weight_ = made.weight_;
    packet_ = made.packet_;
    in_ = made.in_;
    out_ = made.out_;
  }
  void burst(unsigned shard, const LinkState& link, Nanos now);
  AqmAction decide(unsigned shard, const Arrival& a);
  void enter(unsigned shard, const Arrival& a);
  void leave(unsigned shard, double size, bool in_profile);
  /// average_in_kb, average_all_kb, mark_probability_in, mark_probability_out.
  size_t gauges(std::span<Gauge> out) const;

 private:
  struct alignas(64) Shard {
    Shard(uint64_t seed, uint64_t index)
        : in(SplitMix64(seed, 2 * index)), all(SplitMix64(seed, 2 * index + 1)) {}
    RedAverage in, all;
    double in_queue = 0;  // B
    double rate = 0;      // B/s
    Nanos now{0}, empty_at{0};
  };

  [[nodiscard]] double in_queue(double queue) const;

  double weight_, packet_;
  RedCurve in_, out_;  // of averages in B
  SharedCount arrivals_, in_arrivals_, entered_, left_;
  std::vector<Shard> shards_;
  std::atomic<double> average_in_{0}, average_all_{0};
};

}  // namespace turnpike::aqm
