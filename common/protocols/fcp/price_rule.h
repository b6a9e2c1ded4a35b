// SPDX-License-Identifier: BSD-3-Clause
// FCP's laws as parts of a link whose classes share its capacity.
#pragma once

#include "common/protocols/link_law.h"

namespace turnpike::fcp {

/// Demand at prices p near a given one: `inelastic` + `elastic` / p, in B/s.
struct Demand {
  double elastic = 0;    // $/s
  double inelastic = 0;  // B/s

  [[nodiscard]] double at(double price) const { return inelastic + elastic / price; }
};

/// Sets the price of a law that prices one class of a link's traffic: its price depends on the
/// demand of the other classes.
class PriceRule {
 public:
  virtual ~PriceRule() = default;
  /// The price, $/B, after the law has counted a burst. `usable`: B/s that the law would have
  /// divided among its own traffic. `slack`: demand beyond it that is free, B/s.
  virtual double price(unsigned shard, double usable, double slack) = 0;
};

/// An FCP law that can price one class of a link.
class ClassLaw : public LinkLaw {
 public:
  using LinkLaw::LinkLaw;

  /// The demand near `price`, 0 and infinity included, as this shard knows it.
  [[nodiscard]] virtual Demand demand(unsigned shard, double price) const = 0;
  /// s, over the class's traffic.
  [[nodiscard]] virtual double average_rtt(unsigned shard) const = 0;
  /// Call before the first packet. The rule must outlive the law.
  void set_rule(PriceRule* rule) { rule_ = rule; }
  /// The class's packets pay `factor` times the law's price: their money is worth 1 / factor in the
  /// law's. Call before the first packet.
  void set_factor(double factor) { worth_ = static_cast<float>(1 / factor); }

 protected:
  void take_factor(const ClassLaw& made) { worth_ = made.worth_; }
  [[nodiscard]] PriceRule* rule() const { return rule_; }
  /// Of a unit of the packets' money, in the law's.
  [[nodiscard]] float worth() const { return worth_; }

 private:
  float worth_ = 1;
  PriceRule* rule_ = nullptr;  // null: the law has the link for itself
};

}  // namespace turnpike::fcp
