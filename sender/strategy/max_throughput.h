// SPDX-License-Identifier: BSD-3-Clause
// Maximum throughput by gradient ascent (FCP, section 6).
#pragma once

#include <vector>

#include "sender/strategy/weighted.h"

namespace turnpike::sender {

/// Raises the budget of one flow after another by kTrial, at the others' expense in proportion. If
/// the host's throughput does not grow, lowers it by kTrial instead; if that fails, too, restores
/// it. Rests once a whole round gains less than kEnough, until a price changes by kPriceMoved.
///
/// Waits kSettle mean RTTs after each change, for preloads and prices to settle, then measures the
/// throughput over one mean RTT. Measures at the beginning of each round, too, so that changes by
/// other hosts in the last round do not count as its gain.
class MaxThroughput final : public Weighted {
 public:
  static constexpr double kTrial = 0.1;         // fraction of a flow's budget
  static constexpr double kEnough = 0.005;      // relative gain that starts another round
  static constexpr double kPriceMoved = 0.1;    // relative change that ends the rest
  static constexpr double kMin = 0.01;          // fraction of W for each flow
  static constexpr int64_t kSettle = 2;         // RTTs before a measurement
  static constexpr int64_t kSettleAtFirst = 8;  // RTTs, after flows came or went

  explicit MaxThroughput(Budget budget) : Weighted(budget) {}

 protected:
  void joined(Member& member) override;
  void left(Member& member) override;
  Nanos review(Nanos now) override;

 private:
  enum class Trial : uint8_t { kNone, kMore, kLess, kResting };
  enum class Stage : uint8_t { kFresh, kSettling, kMeasuring };

  void start_over();
  void compare(double throughput);
  /// Multiplies the weight of the current flow by `factor`.
  void attempt(Trial trial, double factor);
  void undo();
  void next_flow();
  [[nodiscard]] bool prices_moved() const;

  Stage stage_ = Stage::kFresh;
  Trial trial_ = Trial::kNone;
  size_t current_ = 0;         // index in the roster of the flow under trial
  double best_ = 0;            // B/s of all flows with the weights before the trial
  double at_round_start_ = 0;  // B/s of all flows
  Nanos measured_from_{0};
  std::vector<double> before_;   // weights before the trial, in the order of the roster
  std::vector<double> resting_;  // $/B when the rest began, likewise; empty: not measured yet
};

}  // namespace turnpike::sender
