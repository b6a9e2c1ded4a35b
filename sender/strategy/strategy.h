// SPDX-License-Identifier: BSD-3-Clause
// How a host divides its budget among its flows: the policy that produces FCP's x_i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/units/units.h"
#include "sender/strategy/member.h"

namespace turnpike::sender {

/// One per host. Targets are asked for lazily: a flow asks again when version() has moved since it
/// last did, so that a flow that comes or goes costs the same whether there are two or a million.
///
/// Background flows are every strategy's: they take W/10000 each (times their share) off the
/// budget before the others divide it.
class Strategy {
 public:
  static constexpr double kBackground = 1e-4;     // of W, what a background flow spends
  static constexpr double kMaxBackground = 1e-2;  // of W, however many of them there are

  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  /// A flow wants budget from now on, or no longer; its terms are set.
  void join(Member& member);
  void leave(Member& member);

  /// Budget for a flow that has joined; the sum over all of them is within the host's budget,
  /// or each is where the budget is not shared.
  [[nodiscard]] Budget target(const Member& member) const {
    if (!member.terms->background) return part(member);
    return Budget(budget_ * background_part() * member.terms->share);
  }

  /// What the host may spend from now on.
  void set_budget(Budget budget) {
    budget_ = budget.count();
    changed();
  }

  /// Whether it wants to hear at all.
  [[nodiscard]] bool watching() const { return next_review_ != kNever; }
  /// What an ACK told of a flow that has joined: the pace from now on in B/s, $/B, and the smoothed
  /// round trip. Now and then that is the occasion for a review.
  void heard(Member& member, double rate, Price price, Nanos rtt, Nanos now) {
    if (!watching()) return;
    member.count(now);
    member.rate = rate;
    member.price = price.count();
    member.rtt = rtt;
    if (now >= next_review_ && !member.terms->background) next_review_ = review(now);
  }

  /// Whether the flows have one budget between them, not one each.
  [[nodiscard]] virtual bool shared() const { return true; }

  /// Moves whenever some flow's target may have changed.
  [[nodiscard]] uint32_t version() const { return version_; }

 protected:
  enum class Watching : uint8_t { kNo, kYes };  // whether prices and rates matter to it
  Strategy(Budget budget, Watching watching)
      : budget_(budget.count()), next_review_(watching == Watching::kYes ? Nanos(0) : kNever) {}

  /// Of flows that are not in the background.
  virtual void joined(Member& member) = 0;
  virtual void left(Member& member) = 0;
  [[nodiscard]] virtual Budget part(const Member& member) const = 0;
  /// Changes targets by what was heard; returns when to do so again.
  virtual Nanos review(Nanos /*now*/) { return kNever; }

  /// $/s of the whole host, and what flows that are not in the background have between them.
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

/// A strategy by the name topology files use, for a host of this budget; null if there is none.
std::unique_ptr<Strategy> make_strategy(std::string_view name, Budget budget);

}  // namespace turnpike::sender
