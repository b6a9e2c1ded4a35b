// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/qcp/link.h"

#include <algorithm>
#include <cmath>

#include "common/protocols/qcp/header.h"
#include "common/protocols/relaxed.h"

namespace turnpike::qcp {
namespace {

constexpr double kPacket = 1000;  // B, size of a packet for the least rate

Police police_of(const ParamValues& params, bool long_form) {
  if (!long_form) return Police::kOff;
  const auto police = static_cast<Police>(params[kPolice]);
  // The queues are those of the scheme and of TCP.
  const size_t tcp_queue = size_t{kOwnLinkParamCount} + coexistence::kTcpQueue;
  const bool beside_tcp = params.size() > tcp_queue && params[tcp_queue] != coexistence::kShared;
  return police == Police::kDemote && beside_tcp ? Police::kDrop : police;
}

}  // namespace

Link::Link(const ParamValues& params, unsigned shards, uint64_t seed, Form form)
    : LinkLaw(
          {.rewritten = {explicit_rate::kRateOffset, explicit_rate::kRateOffset + sizeof(float)},
           .classes = police_of(params, form == Form::kLong) == Police::kDemote ? 2U : 1U,
           .marks_or_drops = police_of(params, form == Form::kLong) != Police::kOff,
           .flows = police_of(params, form == Form::kLong) != Police::kOff}),
      alpha_(params[kAlpha]),
      beta_(params[kBeta]),
      interval_(params[kInterval]),
      most_rtt_(params[kMaxRtt]),
      floor_(params[kFloor]),
      form_(form),
      count_(form == Form::kLong ? static_cast<Count>(params[kCount]) : Count::kSimplified),
      police_(police_of(params, form == Form::kLong)),
      rule_(static_cast<explicit_rate::NewcomerRule>(params[kNewcomers])),
      average_rtt_(params[kFirstRtt]),
      sums_(shards),
      newcomers_(rule_, shards),
      rates_(police_ == Police::kOff ? 0 : shards) {
  dice_.reserve(shards);
  for (unsigned i = 0; i < shards; ++i) dice_.emplace_back(SplitMix64(seed, i));
}

bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  const auto* m = dynamic_cast<const Link*>(&made);
  if (m == nullptr || m->form_ != form_ || m->police_ != police_) return false;
  take_traits(made);
  alpha_ = m->alpha_;
  beta_ = m->beta_;
  interval_ = m->interval_;
  most_rtt_ = m->most_rtt_;
  floor_ = m->floor_;
  count_ = m->count_;
  rule_ = m->rule_;
  newcomers_.set_rule(rule_);
  return true;
}

// sigma of equation 4 or 12. `own` is the link's 1/R(t-d), for packets without a rate of their own.
double Link::flow_time(const LinkPacket& p, const Header& h, double own) const {
  double sigma = h.interval;
  if (count_ == Count::kSimplified) sigma = own;
  // A flow in its first round has no rate from this link yet: its interval is the rate that it can
  // use.
  if (count_ == Count::kSharing && h.common.rtt_ns != 0) sigma = std::min(sigma, own);
  return std::min(p.size * sigma, most_rtt_);
}

// Measured, for a header may say anything. Packets of a compliant flow may come one too early.
double Link::excessive_rate(unsigned index, const LinkPacket& p, double compliant, Nanos now) {
  if (police_ == Police::kOff || compliant <= 0) return 0;
  const double window = period();
  const double measured = rates_[index].add(p.flow, p.size, now, window) - p.size / window;
  return measured > compliant ? measured : 0;
}

bool Link::police(unsigned index, LinkPacket& p, double measured, double compliant, double& room) {
  if (dice_[index].random.uniform() >= (measured - compliant) / measured) return false;
  if (police_ == Police::kDemote && p.size <= room) {
    room -= p.size;
    p.queue_class = 1;
  } else {
    p.action = AqmAction::kDrop;
  }
  return true;
}

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                      Nanos now) {
  const double known = read(rate_), rate = known > 0 ? known : link.capacity;
  const double flows = read(flows_);
  double least = newcomers_.lowered(rate, flows);
  const double compliant = read(max_compliant_rate_);
  ShardSums<kFields>::Values sums{};
  double room = link.buffer - link.queues[1];
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    LinkPacket& p = burst[i];
    if (p.header == nullptr) {
      sums[kBytes] += p.size;
      sums[kFlowTime] += p.size / rate;
      continue;
    }
    const Header h =
        form_ == Form::kLong ? load(p.header) : Header{explicit_rate::load(p.header), 1};
    if (!credible(h)) {
      refused |= uint64_t{1} << i;
      continue;
    }
    sums[kBytes] += p.size;
    const double measured = excessive_rate(index, p, compliant, now);
    double time = flow_time(p, h, 1 / rate);
    if (measured > 0) time = std::min(time, p.size / measured);  // as one flow (equation 20)
    sums[kFlowTime] += time;
    if (h.common.rtt_ns != 0) {
      sums[kRttBytes] += p.size;
      sums[kRtt] += h.common.rtt_ns * 1e-9 * p.size;
    }
    if (!p.admitted) continue;
    if (measured > 0 && police(index, p, measured, compliant, room)) {
      sums[kPoliced] += p.size;
      if (p.action == AqmAction::kDrop) continue;
    }
    const double share = p.opens ? newcomers_.admit(index, least, link.capacity) : least;
    if (p.opens) least = newcomers_.lowered(rate, flows);
    wire::store_f32(p.header + explicit_rate::kRateOffset,
                    std::min(h.common.rate, static_cast<float>(share)));
  }
  sums_.add(index, sums);
  return refused;
}

// Equation 4. With no flows, advertises all usable capacity. The queue is the present one.
double Link::rate_for(double flows, double length, const LinkState& link) const {
  const double queue = police_ == Police::kDemote ? link.queues[0] : link.queue;
  const double usable =
      std::max(alpha_ * link.capacity - beta_ * queue / length, floor_ * link.capacity);
  const double rate = flows > 0 ? usable / flows : usable;
  return std::clamp(rate, std::min(kPacket / most_rtt_, link.capacity), link.capacity);
}

Nanos Link::update(const LinkState& link, Nanos now) {
  if (sums_.since_taken(kRttBytes) == 0 && newcomers_.wait(to_seconds(now - last_)))
    return now + from_seconds(period());
  const auto sums = sums_.take();
  double rate = rate_for(0, period(), link);
  if (read(rate_) > 0 && now > last_) {
    const double length = to_seconds(now - last_);
    const auto held = newcomers_.update(length, sums[kBytes]);
    const double flows = sums[kFlowTime] / length + held.now + held.before / 2;
    rate = rate_for(flows, length, link);
    write(flows_, flows);
    write(policed_, read(policed_) + sums[kPoliced]);
    if (sums[kRttBytes] > 0) {
      // The first mean replaces the initial value, which is no measurement.
      const double average = read(average_rtt_), mean = sums[kRtt] / sums[kRttBytes];
      write(average_rtt_, rtt_known_ ? average + kRttGain * (mean - average) : mean);
      rtt_known_ = true;
    }
  }
  write(rate_, rate);
  last_ = now;

  // A flow that has not received this rate yet may send at any advertised in two round trips.
  past_rates_[updates_++ % past_rates_.size()] = rate;
  const double share = std::ceil(2 * read(average_rtt_) / period());
  const size_t reach = static_cast<size_t>(std::min<double>(share, past_rates_.size() - 1)) + 1;
  double compliant = rate;
  for (size_t back = 1; back <= reach && back <= updates_; ++back)
    compliant = std::max(compliant, past_rates_[(updates_ - back) % past_rates_.size()]);
  write(max_compliant_rate_, compliant);
  return now + from_seconds(period());
}

// Equations 12 and 13 compare load with the last rate. The load must be mostly a response to that
// rate, otherwise the rate oscillates. Equation 4 uses the packets' own rates, valid at any time.
double Link::period() const {
  const double rounds = count_ == Count::kExact ? 1 : 2;
  return interval_ > 0 ? interval_ : rounds * read(average_rtt_);
}

size_t Link::gauges(std::span<Gauge> out) const {
  return write_gauges(out, {{"rate_mbps", read(rate_) * 8e-6},
                            {"flows", read(flows_)},
                            {"average_rtt_ms", read(average_rtt_) * 1e3},
                            {"policed_bytes", read(policed_)}});
}

}  // namespace turnpike::qcp
