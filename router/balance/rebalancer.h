// SPDX-License-Identifier: BSD-3-Clause
// Moves buckets of the ports' redirection tables from busy lcores to others while the router runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/dpdk/rss_steering.h"
#include "common/units/units.h"
#include "router/balance/plan_move.h"

namespace turnpike::router {

/// A port with a redirection table.
struct BalancedPort {
  std::string link;
  std::vector<uint16_t> table = {};  // by bucket: queue, which is the number of the lcore
  uint32_t rx_descriptors = 0;
  // Gives buckets to a queue. If the driver refuses, the table may have changed all the same.
  struct Written {
    bool done = false;
    Nanos at{0};  // when the call had returned
  };
  std::function<Written(std::span<const uint16_t> buckets, uint16_t queue)> write = {};
};

/// Used by the control thread. Compares the lcores' loads once in kPeriod. If they are unequal, has
/// packets counted by bucket for kSample, plans a move (plan_move()), and makes it (RssSteering).
/// While loads are equal nothing is counted.
class Rebalancer {
 public:
  static constexpr Nanos kPeriod = 1_s, kSample = 200_ms;
  /// A bucket that has moved stays for so long: noise must not send it back and forth.
  static constexpr Nanos kRest = 10_s;

  /// An lcore's total times, as LcoreFigures.
  struct Times {
    Nanos busy{0}, idle{0};
  };
  /// State of the transmit side when a move begins, see RssSteering::Move.
  struct Departure {
    uint32_t tx_descriptors = 0;
    Nanos tx_time{0};
    bool may_begin = true;  // false: packets wait for neighbours, or a link is down
  };
  struct Figures {
    uint64_t moves = 0, buckets = 0;  // since the start
  };

  /// Adds the ports to `steering`, which outlives the rebalancer, in their order.
  Rebalancer(RssSteering& steering, std::vector<BalancedPort> ports, uint16_t lcores);

  /// Does what is due; returns the time of the next call. `times`: by lcore.
  Nanos poll(Nanos now, std::span<const Times> times, const Departure& departure);

  [[nodiscard]] const std::vector<BalancedPort>& ports() const { return ports_; }
  [[nodiscard]] const Figures& figures() const { return figures_; }
  /// Lines for the log since the last call.
  [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

 private:
  enum class State { kWatch, kCount, kPark, kMove };
  static constexpr Nanos kPoll = 500_us;  // during a move

  // Of a port, beside its BalancedPort.
  struct Sample {
    bool trusted = true;             // packets came to the queues that the table has
    std::vector<Nanos> rests_until;  // by bucket
    std::vector<uint64_t> counted;   // by queue and bucket, when the sample began
    std::vector<uint64_t> packets;   // by bucket, in the sample
    std::vector<uint8_t> stays;      // by bucket, see BucketSample
  };

  void watch_from(Nanos now, std::span<const Times> times);
  [[nodiscard]] std::vector<double> busy_since(std::span<const Times> times) const;
  void start_counting(Nanos now, std::span<const Times> times);
  void decide(Nanos now, std::span<const Times> times, const Departure& departure);
  void read_counts(size_t port, Nanos now);
  void write_table();

  RssSteering& steering_;
  std::vector<BalancedPort> ports_;
  std::vector<Sample> samples_;  // by port
  uint16_t lcores_;
  std::vector<Times> times_;  // by lcore, when the period or the sample began
  State state_ = State::kWatch;
  Nanos begin_{0}, next_{0};  // of the period or the sample
  PlannedMove move_;
  Figures figures_;
  std::vector<std::string> lines_;
};

}  // namespace turnpike::router
