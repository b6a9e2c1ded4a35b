// SPDX-License-Identifier: BSD-3-Clause
// RCP at a router's egress link: one rate for every flow, as if the link were shared by a
// processor.
#pragma once

#include "common/protocols/explicit_rate/link.h"
#include "common/protocols/rcp/params.h"

namespace turnpike::rcp {

/// Dukkipati's form of the law, once per T = min(d, interval):
///
///     R <- R (1 + T/d (alpha (g C - y) - beta q/d) / (g C))
///
/// y is the input rate of the last interval, q the queue and d the average round trip, weighted by
/// bytes and smoothed as in the public code. A mean m changes d by T/d of the difference, or, if m
/// is shorter, by (R/C) (m/d) (T/d), since a few short flows do not represent all. The first mean
/// replaces the initial d, which is no measurement: on a link of short round trips the rule for
/// shorter means would keep the initial value for d^2/2m (5 s for 100 ms against 1 ms), and T/d
/// would slow down every rate.
class Link final : public explicit_rate::Link {
 public:
  Link(const ParamValues& params, unsigned shards);

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;

 private:
  double rate_after(const Interval& interval, const LinkState& link) override;
  [[nodiscard]] double period() const override;

  double alpha_, beta_, target_, least_rate_, interval_;
  bool rtt_known_ = false;
};

}  // namespace turnpike::rcp
