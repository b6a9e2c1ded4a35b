// SPDX-License-Identifier: BSD-3-Clause
// Limits the rates of new flows at a link, between their SYN and their first traffic.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <string_view>

#include "common/protocols/relaxed.h"
#include "common/protocols/shard_sums.h"

namespace turnpike::explicit_rate {

/// Rates for the SYNs of one control interval: at most the capacity in total, or, as in the papers,
/// the link's rate for each.
enum class NewcomerRule { kLimited, kUnlimited };
inline constexpr std::array<std::string_view, 2> kNewcomerRules{"limited", "unlimited"};
inline constexpr std::string_view kNewcomersDoc =
    "rates for the SYNs of a control interval: at most the capacity in total (the rest counts as "
    "held flows), or the link's rate for each";

/// Limits the rates that a link promises to new flows.
///
/// A SYN receives its rate one round trip before its flow uses it, and all SYNs within a round trip
/// receive the rate R of the flows before them: K of them add K R, on an idle link K times its
/// capacity. With kLimited, the SYNs of one control interval share the capacity once, in order of
/// arrival:
///
///   - A SYN is charged R, or the mean flow size per interval if that is less: a short flow ends
///     before it has used R for an interval. The mean is bytes by SYNs, both averaged over about
///     eight intervals; SYNs count two intervals late, when their traffic has arrived.
///   - A charge of R also counts in the next interval, in which its traffic arrives. An interval
///     with SYNs continues until some packet carries a round trip.
///   - A SYN for which less than its charge is left receives that fraction of R; the rest of it is
///     a held flow. Held flows lower the rate of all packets at once, because each will receive
///     that rate with its first data packet. After every interval they count with half their
///     number.
///
/// Each shard writes its own sums and reads those of the others; the link's owner calls update().
class Newcomers {
 public:
  Newcomers(NewcomerRule rule, unsigned shards)
      : limited_(rule == NewcomerRule::kLimited), sums_(shards) {}

  void set_rule(NewcomerRule rule) { limited_ = rule == NewcomerRule::kLimited; }

  /// Returns the rate for a SYN, B/s, at a link with rate `rate`; never 0, which is no valid rate.
  double admit(unsigned shard, double rate, double capacity) {
    if (!limited_) return rate;
    const double charge = std::min(rate, read(typical_));
    const double left = capacity - sums_.since_taken(kPromised) - read(lasting_);
    const double part = charge > 0 ? std::clamp(left / charge, 0.0, 1.0) : 1;
    sums_.add(shard, {1, part * charge, charge < rate ? 0 : part * charge, 1 - part});
    return std::max(part * rate, kMinRate);
  }

  /// The link's rate at present, B/s: `rate` for `flows` flows at the last update, and held flows
  /// since.
  [[nodiscard]] double lowered(double rate, double flows) const {
    if (!limited_) return rate;
    const double n = std::max(flows, 1.0);
    return rate * n / (n + sums_.since_taken(kHeld));
  }

  /// Whether to prolong an interval of `length` s so far in which no packet carried a round trip:
  /// it has SYNs, and no traffic of their flows has arrived.
  [[nodiscard]] bool wait(double length) const {
    return limited_ && length < kMaxWait && sums_.since_taken(kSyns) > 0;
  }

  struct Held {
    double now = 0, before = 0;  // flows, of the interval that ended and of earlier ones
  };
  /// Ends an interval of `length` s in which `bytes` arrived.
  Held update(double length, double bytes) {
    const auto came = sums_.take();
    mean_bytes_ += kGain * (bytes - mean_bytes_);
    mean_syns_ += kGain * (syns_[1] - mean_syns_);
    syns_ = {came[kSyns], syns_[0]};
    write(typical_, mean_syns_ > 0 ? mean_bytes_ / mean_syns_ / length : kUnknown);
    write(lasting_, came[kLasting]);
    const Held held{came[kHeld], held_};
    held_ = held.now + held.before / 2;
    return held;
  }

 private:
  enum Field : size_t { kSyns, kPromised, kLasting, kHeld, kFields };  // 1, B/s, B/s, flows

  static constexpr double kMinRate = 1;   // B/s
  static constexpr double kGain = 0.125;  // per interval
  static constexpr double kMaxWait = 2;   // s, in case the SYNs are lost downstream
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  bool limited_;
  ShardSums<kFields> sums_;
  // The owner writes, all shards read.
  std::atomic<double> typical_{kUnknown};  // B/s, mean flow size per interval
  std::atomic<double> lasting_{0};         // B/s, promised in the last interval for longer than it
  // Of the owner alone.
  double mean_bytes_ = 0, mean_syns_ = 0;  // per interval
  std::array<double, 2> syns_{};           // of the last two intervals
  double held_ = 0;                        // flows
};

}  // namespace turnpike::explicit_rate
