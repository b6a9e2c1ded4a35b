// SPDX-License-Identifier: BSD-3-Clause
// The difference between the clocks of two machines, by exchanges of messages (as NTP, RFC 5905
// section 8).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/report/number.h"

namespace turnpike::lab {

/// Times are UNIX time in ns.
class ClockOffset {
 public:
  /// Takes an exchange: sent and received by this machine's clock, answered by the other one's.
  /// The exchange with the shortest round trip counts: it is the least uncertain.
  void add(int64_t sent, int64_t answered, int64_t received) {
    const int64_t round_trip = received - sent;
    if (round_trip < 0 || round_trip >= 2 * uncertainty_) return;
    uncertainty_ = round_trip / 2;
    offset_ = answered - (sent + round_trip / 2);
  }
  /// By how much the other clock is ahead.
  [[nodiscard]] int64_t offset() const { return offset_; }
  /// The offset is off by this at most, whatever part of the round trip each way took.
  [[nodiscard]] int64_t uncertainty() const { return uncertainty_; }
  /// Added to this machine's times for the other one: 0 if the clocks agree as
  /// far as can be measured, since PTP or NTP may hold them closer together than that.
  [[nodiscard]] int64_t correction() const {
    return std::llabs(offset_) > uncertainty_ ? offset_ : 0;
  }
  /// "0.412 ms ahead, +- 0.105 ms: corrected".
  [[nodiscard]] std::string text() const {
    const auto ms = [](int64_t ns) { return report::fixed(static_cast<double>(ns) * 1e-6, 3); };
    return ms(std::llabs(offset_)) + (offset_ < 0 ? " ms behind, +- " : " ms ahead, +- ") +
           ms(uncertainty_) + " ms: " +
           (correction() == 0 ? "not corrected, the same as far as can be measured" : "corrected");
  }

 private:
  static constexpr int64_t kUnknown = INT64_MAX / 4;
  int64_t offset_ = 0, uncertainty_ = kUnknown;
};

}  // namespace turnpike::lab
