// SPDX-License-Identifier: BSD-3-Clause
// Maximum throughput by gradient ascent (section 6 of the FCP paper).
#pragma once

#include <vector>

#include "sender/strategy/weighted.h"

namespace turnpike::sender {

/// One flow after another is given a tenth more, the others yielding in proportion; if that brings
/// the host no more throughput, a tenth less; if neither does, it keeps what it had. Once a whole
/// round has brought less than half a per cent the host rests, until prices move.
///
/// A change is left alone for two average round trips, in which it is promised and then felt, and
/// judged by the throughput of the next one. Each round begins with a measurement of how things
/// are, so that what others did in the last one is not taken for its success.
class MaxThroughput final : public Weighted {
 public:
  static constexpr double kTrial = 0.1;         // of a flow's budget
  static constexpr double kEnough = 0.005;      // gain that is worth another round
  static constexpr double kPriceMoved = 0.1;    // that ends the rest
  static constexpr double kMin = 0.01;          // of W for each flow
  static constexpr int64_t kSettle = 2;         // round trips before a measurement
  static constexpr int64_t kSettleAtFirst = 8;  // after flows came or went

  explicit MaxThroughput(Budget budget) : Weighted(budget) {}

 protected:
  void joined(Member& member) override;
  void left(Member& member) override;
  Nanos review(Nanos now) override;

 private:
  enum class Trial : uint8_t { kNone, kMore, kLess, kResting };
  enum class Stage : uint8_t { kFresh, kSettling, kMeasuring };

  void start_over();
  void judge(double throughput);
  /// Gives the current flow `factor` times what it has.
  void attempt(Trial trial, double factor);
  void undo();
  void next_flow();
  [[nodiscard]] bool prices_moved() const;

  Stage stage_ = Stage::kFresh;
  Trial trial_ = Trial::kNone;
  size_t current_ = 0;         // whose turn it is, in the roster
  double best_ = 0;            // B/s of all that the weights before the trial brought
  double at_round_start_ = 0;  // B/s
  Nanos measured_from_{0};
  std::vector<double> before_;   // weights before the trial, in the roster's order
  std::vector<double> resting_;  // $/B when the rest began, likewise; empty: not known yet
};

}  // namespace turnpike::sender
