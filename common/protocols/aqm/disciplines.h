// SPDX-License-Identifier: BSD-3-Clause
// Drop-tail, RED and REM: whom to tell of congestion, by the queue and by what comes in.
#pragma once

#include <atomic>
#include <vector>

#include "common/protocols/aqm/params.h"
#include "common/protocols/aqm/red.h"
#include "common/protocols/aqm/shared.h"
#include "common/protocols/link_law.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::aqm {

/// An arriving packet as a discipline sees it.
struct Arrival {
  double size = 0;          // B
  double queue = 0;         // B waiting before it
  bool in_profile = false;  // RIO's
};

/// The interface of a discipline. By itself: takes every packet that the buffer has room for.
class DropTail {
 public:
  static constexpr bool kMarksOrDrops = false, kWantsDequeue = false;

  DropTail(const ParamValues&, unsigned /*shards*/, uint64_t /*seed*/) {}
  /// Takes the parameters of another discipline of this kind; averages and prices stay.
  void take_settings(const DropTail& /*made*/) {}
  /// Called before the packets of a burst, and in housekeeping by an lcore that has none.
  void burst(unsigned /*shard*/, const LinkState&, Nanos /*now*/) {}
  AqmAction decide(unsigned /*shard*/, const Arrival&) { return AqmAction::kPass; }
  /// The packet enters the queue; leaves it.
  void enter(unsigned /*shard*/, const Arrival&) {}
  void leave(unsigned /*shard*/, double /*size*/, bool /*in_profile*/) {}
  Nanos update(const LinkState&, Nanos /*now*/) { return kNever; }
  size_t gauges(std::span<Gauge>) const { return 0; }
};

/// Every lcore keeps an average of its own, aged by the others' arrivals as by its own.
class Red : public DropTail {
 public:
  static constexpr bool kMarksOrDrops = true;

  Red(const ParamValues& params, unsigned shards, uint64_t seed);
  void take_settings(const Red& made) {
    weight_ = made.weight_;
    packet_ = made.packet_;
    min_th_ = made.min_th_;
    max_th_ = made.max_th_;
    curve_ = made.curve_;
  }
  void burst(unsigned shard, const LinkState& link, Nanos now);
  AqmAction decide(unsigned shard, const Arrival& a);
  /// average_queue_kb, mark_probability.
  size_t gauges(std::span<Gauge> out) const;

 private:
  struct alignas(64) Shard {
    explicit Shard(SplitMix64 random) : red(random) {}
    RedAverage red;
    RedCurve curve;     // in B
    Nanos empty_at{0};  // when the queue that it last saw was gone
    double rate = 0;    // B/s
    Nanos now{0};
  };

  double weight_, packet_, min_th_, max_th_;
  RedCurve curve_;  // in buffers
  SharedCount arrivals_;
  std::vector<Shard> shards_;
  std::atomic<double> average_{0}, probability_{0};  // for the gauges: the latest of any lcore
};

/// REM (Athuraliya, Low 2001): a price that follows load and queue, once per ten packets' time:
///
///     pr <- max(0, pr + gamma (in - c T + queue_gain (q - q_ref)))    in packets
///
/// and a mark's probability is 1 - phi^-pr, so that the marks of a path tell the sum of prices.
class Rem : public DropTail {
 public:
  static constexpr bool kMarksOrDrops = true;

  Rem(const ParamValues& params, unsigned shards, uint64_t seed);
  void take_settings(const Rem& made) {
    gamma_ = made.gamma_;
    phi_ = made.phi_;
    queue_gain_ = made.queue_gain_;
    target_ = made.target_;
    packet_ = made.packet_;
  }
  AqmAction decide(unsigned shard, const Arrival& a);
  Nanos update(const LinkState& link, Nanos now);
  /// marking_price, mark_probability.
  size_t gauges(std::span<Gauge> out) const;

 private:
  struct alignas(64) Dice {
    explicit Dice(SplitMix64 own) : random(own) {}
    SplitMix64 random;
  };

  double gamma_, phi_, queue_gain_, target_, packet_;
  std::atomic<double> price_{0}, probability_{0};
  ShardSums<1> sums_;  // B
  std::vector<Dice> dice_;
  Nanos last_{0};
  bool begun_ = false;
};

}  // namespace turnpike::aqm
