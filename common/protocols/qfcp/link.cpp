// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/qfcp/link.h"

#include <algorithm>

namespace turnpike::qfcp {
namespace {

constexpr double kPacket = 1000;  // B; the least rate is one packet per period

}  // namespace

Link::Link(const ParamValues& params, unsigned shards)
    : explicit_rate::Link(shards, params[kFirstRate], params[kFirstRtt],
                          static_cast<explicit_rate::NewcomerRule>(params[kNewcomers])),
      beta_(params[kBeta]),
      rtt_gain_(params[kRttGain]),
      least_period_(params[kMinPeriod]),
      most_period_(params[kMaxPeriod]),
      floor_(params[kFloor]) {}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  const auto* m = dynamic_cast<const Link*>(&made);
  if (m == nullptr) return false;
  take_rule(*m);
  beta_ = m->beta_;
  rtt_gain_ = m->rtt_gain_;
  least_period_ = m->least_period_;
  most_period_ = m->most_period_;
  floor_ = m->floor_;
  return true;
}

double Link::rate_after(const Interval& interval, const LinkState& link) {
  // Equation 2. A held flow sends at R two round trips after its SYN.
  const double flows = std::max(
      interval.bytes / interval.length / rate() + interval.held.now + interval.held.before, 1.0);
  set_flows(flows);
  const double queue = link.queue + interval.dropped;
  const double usable =
      std::max(link.capacity - beta_ * queue / interval.length, floor_ * link.capacity);
  if (interval.rtt > 0) set_average_rtt(average_rtt() + rtt_gain_ * (interval.rtt - average_rtt()));
  const double next = (usable / flows + interval.last_rate) / 2;  // eq 3 and 4
  return std::clamp(next, std::min(kPacket / period(), link.capacity), link.capacity);
}

double Link::period() const {
  return std::clamp(average_rtt(), least_period_, std::max(least_period_, most_period_));
}

}  // namespace turnpike::qfcp
