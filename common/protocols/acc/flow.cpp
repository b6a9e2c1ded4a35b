// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/acc/flow.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace turnpike::acc {
namespace {

constexpr double kMinPace = 0x1p-16;  // packets per RTT

}  // namespace

Flow::Flow(const ParamValues& params)
    : kappa_(params[kKappa]),
      target_(params[kTarget] * params[kWeight]),
      limit_(params[kLimit]),
      minimum_rate_(params[kMinimumRate] / 8),
      base_(static_cast<Base>(params[kBase])),
      window_(params[kFirstWindow]) {}

double Flow::write_syn(const FlowState&, uint32_t, uint8_t* header, PacketNote&) {
  store({}, header);
  return 0;
}

double Flow::write_fin(const FlowState&, uint32_t, uint8_t* header, PacketNote&) {
  store({}, header);
  return 0;
}

void Flow::write_probe(const FlowState&, uint32_t, uint8_t* header) {
  round_ = round_ == UINT16_MAX ? uint16_t{1} : static_cast<uint16_t>(round_ + 1);
  pair_ = Pair::kProbed;
  store({.role = Role::kOutOfBand, .round = round_}, header);
}

double Flow::write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  Header h;
  if (pair_ == Pair::kProbed) {
    pair_ = Pair::kSent;
    h = {.role = Role::kInBand, .round = round_};
    began_ = s.now;
    paced_by_ = s.smoothed_rtt;
    sent_ = 0;
  }
  note.put(Note{.window = window_, .round = h.round});
  store(h, header);
  departed_ = sent_;
  departed_at_ = s.now;
  sent_ += size;
  return 0;
}

Opening Flow::on_syn_ack(const FlowState& s, const PacketNote&, const uint8_t*) {
  window_ *= s.packet_size;
  return {allow(s)};
}

Allowance Flow::on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  if (!ends_round(note)) return allow(s);
  pair_ = Pair::kDue;
  const Header h = load(header);
  if (h.role == Role::kInBand) return allow(s);  // the probe was lost: no estimate
  if (h.role != Role::kEstimate || h.round != round_ || !std::isfinite(h.measure) || h.measure < 0)
    return allow(s, false);
  steer(s, h.measure);
  return allow(s);
}

// Sets the window to half of that at the time the packet was sent, so that losses of one window
// halve it once, and not at all if estimates have halved it since.
Allowance Flow::on_loss(const FlowState& s, const PacketNote& note) {
  if (ends_round(note)) pair_ = Pair::kDue;
  const double half = std::max<double>(note.get<Note>().window / 2, s.packet_size);
  if (half < window_) window_ = threshold_ = half;
  return allow(s);
}

// The paper's pwnd: B sent per RTT, at most the window, and the window itself within one packet.
// Uses the RTT that determined the pace: a shorter RTT since then does not mean a lack of data.
// Neither does a window below the packets in flight: the flow sends nothing until ACKs cover the
// difference.
double Flow::used(const FlowState& s) const {
  const double rate = sent_ / to_seconds(std::max(s.now - began_, Nanos(1)));
  const double round_trip = to_seconds(std::max(s.smoothed_rtt, paced_by_));
  const double in_flight = base_ == Base::kMeasured ? s.in_flight : 0;
  return std::min(std::max(rate * round_trip, in_flight) + s.packet_size, window_);
}

// Between the round's first and last packet: a count over the whole round would be off by a packet.
double Flow::departure_rate(const FlowState& s, double used) const {
  if (departed_at_ <= began_) return used / to_seconds(s.smoothed_rtt);
  return departed_ / to_seconds(departed_at_ - began_);
}

void Flow::steer(const FlowState& s, double accumulation) {
  const double packet = s.packet_size, used = this->used(s);
  const double measured = std::exchange(measured_, used);
  const double rate = departure_rate(s, used);
  const double beyond = std::max(accumulation * (1 - minimum_rate_ / rate), 0.0);
  const double excess = std::max(beyond - target_, accumulation - limit_);
  if (excess > 0 && window_ <= packet) {
    pace_ = std::max(pace_ / 2, kMinPace);
    threshold_ = packet;
    return;
  }
  if (pace_ < 1) {
    pace_ = 1;
    return;
  }
  // The estimate covers data sent in the round before its pair.
  const double base = base_ == Base::kMeasured ? measured : used;
  double next = excess > 0 ? std::min(used, base - kappa_ * excess)
                           : std::min(used - kappa_ * excess, used + packet);
  if (excess > 0) {
    threshold_ = next;
  } else {
    if (used + packet >= threshold_) threshold_ = next;
    next = std::min(std::max(2 * base, next), threshold_);
  }
  window_ = std::max(next, packet);
}

// Allows one packet more in flight than the window, so that the pace limits data. The window need
// not be a whole number of packets: if it limited data, a window that shrinks below a whole number
// would leave a gap right before the next pair, and the estimate would be too low.
Allowance Flow::allow(const FlowState& s, bool credible) const {
  const double window = std::max<double>(window_, s.packet_size);
  const double rate = pace_ * window / to_seconds(s.smoothed_rtt);
  return {.rate = rate,
          .floor = rate,
          .window = window + s.packet_size,
          .credible = credible,
          .probe = pair_ == Pair::kDue};
}

}  // namespace turnpike::acc
