// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/flow.h"

#include <algorithm>
#include <cmath>

namespace turnpike::fcp {
// The SYN promises the packets of the first RTT. The flow knows no price yet; links value the
// promise at their present price.
double Flow::write_syn(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  // A deadline flow asks with its first data packet, which carries a round trip.
  const double first_round =
      deadline_.wanted() ? 0 : std::min(double{syn_packets_} * s.packet_size, s.unsent);
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
  priced_ = s.now - std::max(s.rtt, s.answered_after);
  deadline_.refused_by(price_, s.now);
  const auto promise = note.get<Promise>();
  const double rtt = rtt_field(s.rtt) * 1e-9;
  // The host's remaining budget may be below the cost of the first round: then grant only a part.
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
  store({.rtt_ns = rtt_ns,
         .reserve = deadline_.wanted() ? deadline_.price() : 0,
         .age_ns = rtt_field(s.now - priced_),
         .preload = takes ? -1 : promise.preload,
         .balance = paid},
        header);
  // A flow cannot return more than it has committed. Prices that rise during the last RTT make its
  // preloads of -1 add up to more: do not count the excess.
  if (promise.preload < 0) {
    const double most = committed() * (rtt_ns * 1e-9) / (price_ * size);
    promise.preload = std::max(promise.preload, static_cast<float>(-most));
  }
  note.put(promise);
  if (promise.preload != 0) {
    const double amount = promise.amount();
    pending_ += amount;
    returning_ += std::min(amount, 0.0);
    ++promises_;
  }
  return committed();
}

// The canonical per-packet form: over one RTT the preloads add up to exactly the gap between target
// and commitment, regardless of changes of the target.
double Flow::preload_for(const FlowState& s, uint32_t size, double rtt) {
  if (stale_) return 0;  // learn the present price first
  const bool honest = conduct_ != Misbehaviour::kBoast;
  const double rate = pace();
  if (honest && (s.unsent <= rate * rtt || s.now < cancelled_until_))
    return last_round_preload(s, size, rtt);
  cancelled_until_ = Nanos(0);

  if (s.now >= round_end_) {
    round_base_ = granted_;
    round_end_ = s.now + s.rtt;
  }
  // Do not promise more than the flow can send in one RTT, or the application at its limit.
  const double limit = deadline_.wanted() ? std::min<double>(s.limit, deadline_.rate()) : s.limit;
  const double useful = price_ * std::min(s.unsent / rtt, limit);
  const double wanted = honest ? std::min(target_, useful) : target_;
  const double need = std::min(wanted - committed(), s.headroom);
  if (std::fabs(need) <= double{dead_band_} * wanted) return 0;

  const double whole = std::fabs(need) * rtt / (price_ * size);  // the whole gap on this packet
  const double most = need > 0 ? preload_limit_ : whole;
  if (!honest || deadline_.wanted() || size >= round_base_ / price_ * rtt)
    return std::copysign(std::min(whole, most), need);
  const double even =
      std::fabs(wanted - round_base_) / round_base_;  // the gap spread over the round
  return std::copysign(std::min({even, whole, most}), need);
}

// Cancels budget in the flow's last RTT: each packet cancels its own slot (kEach), or the first one
// cancels all slots of the RTT (kWhole).
double Flow::last_round_preload(const FlowState& s, uint32_t size, double rtt) {
  if (cancellation_ == Cancellation::kEach) return -cancel_share_;
  if (cancelled_until_ > Nanos(0)) return 0;
  cancelled_until_ = s.now + s.rtt;
  return -cancel_share_ * std::max(granted_, 0.0) * rtt / (price_ * size);
}

// The last RTT has returned the flow's budget, so the FIN carries no preload.
double Flow::write_fin(const FlowState& s, uint32_t size, uint8_t* header, PacketNote& note) {
  const uint32_t rtt_ns = rtt_field(s.rtt);
  store({.rtt_ns = rtt_ns,
         .age_ns = rtt_field(s.now - priced_),
         .balance = static_cast<float>(price_)},
        header);
  note.put(Promise{static_cast<float>(price_), 0, rtt_ns, size});
  return committed();
}

Allowance Flow::on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  settle(note, true);
  first_rtt_gain_ = 1;
  const Nanos sent = s.now - std::max(s.rtt, s.answered_after);
  if (deadline_.outdates(sent)) [[unlikely]]
    return allow(s);
  if (!take_price(header, price_)) return allow(s, false);
  priced_ = sent;
  stale_ = false;
  deadline_.refused_by(price_, s.now);
  return allow(s);
}

// Grants the promised budget without knowing its price. Until the next feedback, raises the price
// by the same factor, so that the rate stays: the old price may be MIN.
Allowance Flow::on_ack_without_feedback(const FlowState& s, const PacketNote& note) {
  const double before = granted_;
  settle(note, true);
  first_rtt_gain_ = 1;
  if (granted_ > before && before > 0)
    price_ = std::min<double>(price_ * (granted_ / before), kMaxPrice);
  return allow(s);
}

Allowance Flow::on_loss(const FlowState& s, const PacketNote& note) {
  if (note.get<Promise>().preload < 0) cancelled_until_ = Nanos(0);  // links may have missed it
  settle(note, false);
  return allow(s);
}

// Links count on the budget that a flow spent in the last two RTTs, their window. The flow promises
// anew the part that a pause removed from it; otherwise its rate would return before the price
// includes it. After a pause of the whole window the price here is stale, too: links would value a
// promise at another price.
Allowance Flow::on_pause(const FlowState& s, Nanos idle) {
  const double window = 2 * to_seconds(s.rtt);
  const double left = std::clamp(1 - to_seconds(idle) / window, 0.0, 1.0);
  granted_ = std::min(granted_, std::max(granted_ * left, -returning_));  // returns remain valid
  stale_ = granted_ <= 0;
  round_base_ = granted_;
  round_end_ = s.now + s.rtt;
  return allow(s);
}

// Changes w by the packet's promise, valued at the price paid for that packet. A return may arrive
// before the promise that it returns: w is negative until that promise is settled.
void Flow::settle(const PacketNote& note, bool delivered) {
  const auto promise = note.get<Promise>();
  if (promise.preload == 0 || promise.rtt_ns == 0) return;
  const double amount = promise.amount();
  if (--promises_ == 0) {
    pending_ = returning_ = 0;  // clears rounding errors
  } else {
    pending_ -= amount;
    returning_ -= std::min(amount, 0.0);
  }
  const double promised = pending_ - returning_;
  granted_ = std::max(granted_ + (delivered ? amount : 0), -promised);
}

bool Flow::take_price(const uint8_t* header, double& price) {
  const Header echoed = load(header);
  if (!credible(echoed)) return false;
  price = std::max<double>(echoed.price, kMinPrice.count());
  return true;
}

// B/s. In the first RTT the rate may exceed the SYN's promise, within the flow's target.
double Flow::pace() const {
  const double granted = std::max(granted_, 0.0);
  return std::min(granted * first_rtt_gain_, std::max(granted, target_)) / price_;
}

// The floor is one packet per RTT: a flow needs feedback to follow prices.
Allowance Flow::allow(const FlowState& s, bool credible) const {
  const double floor = s.packet_size / (rtt_field(s.rtt) * 1e-9);
  return {.rate = price_ > 0 ? std::max(pace(), floor) : floor,
          .floor = packet_per_round_trip(s),
          .granted = std::max(granted_, 0.0),
          .committed = committed(),
          .price = price_,
          .credible = credible};
}

}  // namespace turnpike::fcp
