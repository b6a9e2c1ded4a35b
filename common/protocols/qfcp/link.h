// SPDX-License-Identifier: BSD-3-Clause
// QFCP at a router's egress link: the capacity divided by the number of flows that its input
// implies.
#pragma once

#include "common/protocols/explicit_rate/link.h"
#include "common/protocols/qfcp/params.h"

namespace turnpike::qfcp {

/// Once per T, the average round trip (equations 2 to 4 of the paper):
///
///     N = max(y / R + held, 1)     R' = (C - beta q/T) / N     R <- (R + R') / 2
///
/// y is the input rate of the last T, q the queue plus the bytes dropped in that time. New flows
/// are limited (explicit_rate/newcomers.h): N includes held flows, and the average in equation 4
/// uses the rate that packets received last, which held flows have lowered.
class Link final : public explicit_rate::Link {
 public:
  Link(const ParamValues& params, unsigned shards);

  bool take_settings(LinkLaw& made, std::span<const uint16_t> groups) override;

 private:
  double rate_after(const Interval& interval, const LinkState& link) override;
  [[nodiscard]] double period() const override;

  double beta_, rtt_gain_, least_period_, most_period_, floor_;
};

}  // namespace turnpike::qfcp
