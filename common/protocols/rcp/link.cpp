// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/rcp/link.h"

#include <algorithm>

namespace turnpike::rcp {
namespace {

constexpr double kPacket = 1000;  // B, size of a packet for the least rate

}  // namespace

Link::Link(const ParamValues& params, unsigned shards)
    : explicit_rate::Link(shards, params[kFirstRate] * params[kTarget], params[kFirstRtt]),
      alpha_(params[kAlpha]),
      beta_(params[kBeta]),
      target_(params[kTarget]),
      least_rate_(params[kMinRate]),
      interval_(params[kInterval]) {}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  const auto* m = dynamic_cast<const Link*>(&made);
  if (m == nullptr) return false;
  take_rule(*m);
  alpha_ = m->alpha_;
  beta_ = m->beta_;
  target_ = m->target_;
  least_rate_ = m->least_rate_;
  interval_ = m->interval_;
  return true;
}

double Link::rate_after(const Interval& interval, const LinkState& link) {
  if (interval.rtt > 0) {
    const double d = average_rtt(), m = interval.rtt;
    double gain = std::min(interval.length / d, 1.0);
    if (m < d) gain *= rate() / link.capacity * (m / d);
    set_average_rtt(rtt_known_ ? d + gain * (m - d) : m);
    rtt_known_ = true;
  }
  const double d = average_rtt(), most = target_ * link.capacity;
  set_flows(most / rate());
  const double spare = alpha_ * (most - interval.bytes / interval.length) - beta_ * link.queue / d;
  // A late update counts as at most one round trip.
  const double next = rate() * (1 + std::min(interval.length / d, 1.0) * spare / most);
  return std::clamp(next, std::min(least_rate_ * kPacket / d, most), most);
}

double Link::period() const { return std::min(average_rtt(), interval_); }

}  // namespace turnpike::rcp
