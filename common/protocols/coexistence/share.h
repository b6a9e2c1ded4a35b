// SPDX-License-Identifier: BSD-3-Clause
// TCP's share of a link beside a scheme whose flows TCP would starve against: XCP's section 8.2.
#pragma once

#include <algorithm>
#include <cmath>

namespace turnpike::coexistence {

/// TCP's mean window in packets at a loss probability `loss` > 0, by the throughput equation
/// (Padhye et al. 1998) with a time-out of four round trips, as in TFRC.
inline double tcp_window(double loss) {
  const double timeouts = 12 * loss * std::sqrt(3 * loss / 8) * (1 + 32 * loss * loss);
  return 1 / (std::sqrt(2 * loss / 3) + timeouts);
}

/// Shares of two queues at one link, which move until flows of both kinds have equal windows:
///
///     w_T += kappa (cwnd_own - cwnd_TCP) / (cwnd_own + cwnd_TCP)      w_own = 1 - w_T
///
/// The kind with the smaller windows gets more of the link, whatever its number of flows.
class Share {
 public:
  static constexpr double kMin = 0.01;  // of the link, for either

  explicit Share(double kappa) : kappa_(kappa) {}

  void set_gain(double kappa) { kappa_ = kappa; }

  /// Call once per round trip; both windows in B and > 0.
  void step(double own_window, double tcp_window) {
    const double error = (own_window - tcp_window) / (own_window + tcp_window);
    tcp_ = std::clamp(tcp_ + kappa_ * error, kMin, 1 - kMin);
  }

  [[nodiscard]] double tcp() const { return tcp_; }
  [[nodiscard]] double own() const { return 1 - tcp_; }

 private:
  double kappa_;
  double tcp_ = 0.5;
};

}  // namespace turnpike::coexistence
