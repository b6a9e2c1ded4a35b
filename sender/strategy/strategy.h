// SPDX-License-Identifier: BSD-3-Clause
// Divides a host's budget among its flows: the policy that sets FCP's x_i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/units/units.h"
#include "sender/strategy/member.h"

namespace turnpike::sender {

/// One per host, on its lcore. A flow calls target() again once version() has changed, so that the
/// cost of a flow's start or end does not depend on the number of flows.
///
/// Under every strategy, each background flow receives W/10000 times its share before the other
/// flows divide the rest.
class Strategy {
 public:
  static constexpr double kBackground = 1e-4;     // fraction of W per background flow
  static constexpr double kMaxBackground = 1e-2;  // fraction of W for all background flows together

  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  /// Adds or removes a flow. `member.terms` is set; the member stays valid until leave().
  void join(Member& member);
  void leave(Member& member);

  /// Budget x_i in $/s of a flow that has joined. The sum over all flows is at most the host's
  /// budget; where flows do not share it, each target is.
  [[nodiscard]] Budget target(const Member& member) const {
    if (!member.terms->background) return part(member);
    return Budget(budget_ * background_part() * member.terms->share);
  }

  /// Sets the host's budget W in $/s.
  void set_budget(Budget budget) {
    budget_ = budget.count();
    changed();
  }

  /// Whether update() has an effect.
  [[nodiscard]] bool watching() const { return next_review_ != kNever; }
  /// Call at each ACK of a flow that has joined, with its new pacing rate in B/s, price in $/B, and
  /// smoothed RTT. Reviews the targets when a review is due.
  void update(Member& member, double rate, Price price, Nanos rtt, Nanos now) {
    if (!watching()) return;
    member.count(now);
    member.rate = rate;
    member.price = price.count();
    member.rtt = rtt;
    if (now >= next_review_ && !member.terms->background) next_review_ = review(now);
  }

  /// Whether flows share one budget; otherwise each has its own.
  [[nodiscard]] virtual bool shared() const { return true; }

  /// Changes whenever a target may have changed.
  [[nodiscard]] uint32_t version() const { return version_; }

 protected:
  enum class Watching : uint8_t { kNo, kYes };  // whether the strategy uses prices and rates
  Strategy(Budget budget, Watching watching)
      : budget_(budget.count()), next_review_(watching == Watching::kYes ? Nanos(0) : kNever) {}

  /// Called for flows that are not in the background.
  virtual void joined(Member& member) = 0;
  virtual void left(Member& member) = 0;
  [[nodiscard]] virtual Budget part(const Member& member) const = 0;
  /// Updates targets from the members' rates and prices; returns the time of the next review.
  virtual Nanos review(Nanos /*now*/) { return kNever; }

  /// Budget in $/s of the whole host; of all its flows that are not in the background.
  [[nodiscard]] double whole_budget() const { return budget_; }
  [[nodiscard]] double budget() const {
    return budget_ * (1 - background_part() * background_shares_);
  }
  void changed() { ++version_; }

 private:
  [[nodiscard]] double background_part() const {
    return background_shares_ * kBackground <= kMaxBackground ? kBackground
                                                              : kMaxBackground / background_shares_;
  }

  double budget_;
  Nanos next_review_;
  double background_shares_ = 0;
  uint64_t background_flows_ = 0;
  uint32_t version_ = 1;
};

/// Makes a strategy by its name in topology files, for a host of that budget; null: unknown name.
std::unique_ptr<Strategy> make_strategy(std::string_view name, Budget budget);

}  // namespace turnpike::sender
