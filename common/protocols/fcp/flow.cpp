// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/flow.h"

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {
// The SYN pays for the packets of the first round trip. There is no price yet to
// weigh it with; routers take today's.
double Flow::write_syn(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  const double first_round = std::min(syn_packets_ * s.packet_size, s.unsent);
  const auto preload = static_cast<float>(first_round / size);
  store({.rtt_ns = 0, .preload = preload}, header);
  note.put(Promise{0, preload, 0, size});
  return committed();
}

Opening Flow::on_syn_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  if (!take_price(header, price_)) {
    price_ = kMinPrice.count();
    return {allow(s, false)};
  }
  const auto promise = note.get<Promise>();
  const double rtt = rtt_field(s.rtt) * 1e-9;
  // The host may have less left than ten packets cost here; then the promise is kept in part.
  granted_ = std::min(price_ * promise.size * promise.preload / rtt, std::max(s.headroom, 0.0));
  round_base_ = granted_;
  round_end_ = s.now + s.rtt;
  first_rtt_gain_ = first_round_;
  return {allow(s)};
}

double Flow::write_data(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  const uint32_t rtt_ns = rtt_field(s.rtt);
  const auto paid = static_cast<float>(price_);
  Promise promise{paid, 0, rtt_ns, size};
  promise.preload = static_cast<float>(preload_for(s, size, rtt_ns * 1e-9));
  if (std::fabs(promise.preload) < kMinNormal) promise.preload = 0;
  const bool takes = conduct_ == Misbehaviour::kTake && promise.preload == 0 && !stale_;
  store({.rtt_ns = rtt_ns, .preload = takes ? -1 : promise.preload, .balance = paid}, header);
  // Nobody gives back more than there is, and the host must not count on it: prices that rose
  // during the last round trip make its -1s add up to that.
  if (promise.preload < 0) {
    const double most = committed() * (rtt_ns * 1e-9) / (price_ * size);
    promise.preload = std::max(promise.preload, static_cast<float>(-most));
  }
  note.put(promise);
  if (promise.preload != 0) {
    pending_ += promise.amount();
    ++promises_;
  }
  return committed();
}

// The canonical per-packet form: over one round trip of packets the preloads add up
// to exactly the gap, however often the target moves.
double Flow::preload_for(const FlowState& s, uint32_t size, double rtt) {
  if (stale_) return 0;  // first what the path costs now
  const bool honest = conduct_ != Misbehaviour::kBoast;
  const double rate = pace();
  if (honest && (s.unsent <= rate * rtt || s.now < cancelled_until_))
    return last_round_preload(s, size, rtt);
  cancelled_until_ = Nanos(0);

  if (s.now >= round_end_) {
    round_base_ = granted_;
    round_end_ = s.now + s.rtt;
  }
  // What a short flow can still send in a round trip, or an application at all, is enough.
  const double useful = price_ * std::min(s.unsent / rtt, s.limit);
  const double wanted = honest ? std::min(target_, useful) : target_;
  const double need = std::min(wanted - granted_ - pending_, s.headroom);
  if (std::fabs(need) <= dead_band_ * wanted) return 0;

  const double whole = std::fabs(need) * rtt / (price_ * size);  // all of it on this packet
  if (!honest || size >= round_base_ / price_ * rtt) return std::copysign(whole, need);
  const double even = std::fabs(wanted - round_base_) / round_base_;  // spread over the round
  return std::copysign(std::min(even, whole), need);
}

// The end: this packet's slot will not be used again, and so says its preload. Or the first one of
// the round trip says so for all.
double Flow::last_round_preload(const FlowState& s, uint32_t size, double rtt) {
  if (cancellation_ == Cancellation::kEach) return -cancel_share_;
  if (cancelled_until_ > Nanos(0)) return 0;
  cancelled_until_ = s.now + s.rtt;
  return -cancel_share_ * granted_ * rtt / (price_ * size);
}

// All budget was handed back in the last round trip; the FIN only closes.
double Flow::write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  const uint32_t rtt_ns = rtt_field(s.rtt);
  store({.rtt_ns = rtt_ns, .balance = static_cast<float>(price_)}, header);
  note.put(Promise{static_cast<float>(price_), 0, rtt_ns, size});
  return committed();
}

Allowance Flow::on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  settle(note, true);
  first_rtt_gain_ = 1;
  if (!take_price(header, price_)) return allow(s, false);
  stale_ = false;
  return allow(s);
}

// The budget is granted, but its price is not known: until the next feedback the path is taken to
// have become dearer by as much, so that the rate stays. The old price may be MIN.
Allowance Flow::on_ack_without_feedback(const FlowState& s, const PacketNote& note) {
  const double before = granted_;
  settle(note, true);
  first_rtt_gain_ = 1;
  if (granted_ > before && before > 0)
    price_ = std::min<double>(price_ * (granted_ / before), kMaxPrice);
  return allow(s);
}

Allowance Flow::on_loss(const FlowState& s, const PacketNote& note) {
  if (note.get<Promise>().preload < 0) cancelled_until_ = Nanos(0);  // nobody may have heard of it
  settle(note, false);
  return allow(s);
}

// The network expects of a flow what it brought in the last two round trips, its links'
// window. What a pause took out of it is promised anew, or the price would have forgotten the flow
// when its rate comes back. If that is all of it, the price known here is forgotten too: a promise
// weighed with it would be worth something else to the links that hear it.
Allowance Flow::on_pause(const FlowState& s, Nanos idle) {
  const double window = 2 * to_seconds(s.rtt);
  const double left = std::clamp(1 - to_seconds(idle) / window, 0.0, 1.0);
  granted_ = std::max(granted_ * left, -pending_);  // what is being given back was not forgotten
  stale_ = granted_ <= 0;
  round_base_ = granted_;
  round_end_ = s.now + s.rtt;
  return allow(s);
}

// w moves by what the packet promised, valued at the price it paid.
void Flow::settle(const PacketNote& note, bool delivered) {
  const auto promise = note.get<Promise>();
  if (promise.preload == 0 || promise.rtt_ns == 0) return;
  const double amount = promise.amount();
  if (delivered) granted_ = std::max(granted_ + amount, 0.0);
  pending_ = --promises_ == 0 ? 0 : pending_ - amount;  // nothing in flight: no rounding left over
}

bool Flow::take_price(const uint8_t* header, double& price) {
  const Header echoed = load(header);
  if (!credible(echoed)) return false;
  price = std::max<double>(echoed.price, kMinPrice.count());
  return true;
}

// B/s. In the first round trip more may go than the SYN paid for, if the host has it to spend.
double Flow::pace() const {
  return std::min(granted_ * first_rtt_gain_, std::max(granted_, target_)) / price_;
}

// A floor of one packet per round trip: a flow must hear prices to follow them.
Allowance Flow::allow(const FlowState& s, bool credible) const {
  const double floor = s.packet_size / (rtt_field(s.rtt) * 1e-9);
  return {.rate = price_ > 0 ? std::max(pace(), floor) : floor,
          .floor = packet_per_round_trip(s),
          .granted = granted_,
          .committed = committed(),
          .price = price_,
          .credible = credible};
}

}  // namespace turnpike::fcp
