// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/reserve_flow.h"

#include <algorithm>

namespace turnpike::fcp {
namespace {

double seconds_of(Nanos rtt) { return rtt_field(rtt) * 1e-9; }

// How much the round trip in headers may rise while time passes.
constexpr double kRise = 0.75;

// part / whole, at most 1. Divides only where the result is less: a division is most of the time.
double part_of(double part, double whole) { return part < whole ? part / whole : 1; }

bool take_price(const Header& echoed, float& price) {
  if (!credible(echoed)) return false;
  price = std::max(echoed.price, static_cast<float>(kMinPrice.count()));
  return true;
}

}  // namespace

// The SYN announces the first round: `bytes` in one RTT, or in a part of an RTT if `bytes` is the
// whole flow.
double ReserveFlow::write_syn(const FlowState& s, uint32_t size, uint8_t* header,
                              PacketNote& note) {
  const double most = double{syn_packets_} * s.packet_size;
  // A deadline flow asks with its first data packet, which carries a round trip.
  const double bytes = deadline_.wanted() ? 0 : std::min(most, s.unsent);
  const double parts = deadline_.wanted() ? 2 : s.unsent <= most ? burst_ : 1;
  const double line = std::min(s.line, s.limit);
  store({.rtt_ns = 0,
         .reserve = std::isfinite(line) ? static_cast<float>(line) : 0,
         .preload = static_cast<float>(bytes / size),
         .balance = target_,
         .slot = static_cast<float>(parts)},
        header);
  note.put(Promised{static_cast<float>(parts), static_cast<float>(bytes), target_});
  return committed_;
}

// A flow that cannot pay for one packet per RTT also waits before its first packet, less the RTT of
// the handshake. Links may request a longer wait.
Opening ReserveFlow::on_syn_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  const Header echoed = load(header);
  const bool credible = take_price(echoed, price_);
  if (!credible) price_ = kMaxPrice;
  deadline_.refused_by(price_, s.now);
  priced_ = s.now - std::max(s.rtt, s.answered_after);
  rtt_ns_ = rtt_field(s.rtt);
  timed_us_ = micros(s.now);
  const auto first = note.get<Promised>();
  const double limit =
      credible && echoed.reserve > 0 ? echoed.reserve : std::numeric_limits<double>::infinity();
  const double round = std::min<double>(first.slot * first.rate / seconds_of(s.rtt), limit);
  if (first.slot <= 1) {
    const double span = life();
    remember({static_cast<float>(span), static_cast<float>(round), first.budget}, span);
  }
  Opening opening{.allowance = set_rate(s, std::min(round, double{target_} / price_))};
  opening.allowance.credible = credible;
  first_round_ = first.slot > 1
                     ? first.rate
                     : static_cast<float>(std::min<double>(first.rate, rate_ * seconds_of(s.rtt)));
  const double size = std::min<double>(s.packet_size, s.unsent);
  opening.first_wait = std::max(from_seconds(size / rate_ - to_seconds(s.rtt)),
                                credible ? Nanos(echoed.age_ns) : Nanos(0));
  return opening;
}

double ReserveFlow::write_data(const FlowState& s, uint32_t size, uint8_t* header,
                               PacketNote& note) {
  if (deadline_.wanted()) [[unlikely]]
    return write_request(s, size, header, note);
  const double rtt = this->rtt();
  const double rate = std::max(rate_, 1.0F);
  const double left = s.unsent - std::max<double>(rate * rtt, size);  // one round trip from now
  double reserve = 0, next = 0, wanted = 0;
  if (left > 0) {
    wanted_ = std::max({wanted_, static_cast<float>(rate), static_cast<float>(left / rtt)});
    wanted = std::min({double{wanted_}, growth_ * rate, s.limit, s.line});
    reserve = target_ / wanted;
    next = std::min(wanted, double{target_} / price_) * part_of(left, size);
  }
  const double slot = size / rate;
  store({.rtt_ns = rtt_ns_,
         .reserve = static_cast<float>(reserve),
         .age_ns = rtt_field(s.now - priced_),
         .preload = static_cast<float>(next / rate - 1),
         .balance = price_,
         .slot = static_cast<float>(slot),
         .first = first_round_ > 0},
        header);
  first_round_ -= static_cast<float>(size);
  note.put(Promised{static_cast<float>(slot), static_cast<float>(wanted), target_});
  return committed_;
}

// A packet at a deadline class's fixed price. Preloads are the paper's there: changes of the rate,
// announced once.
double ReserveFlow::write_request(const FlowState& s, uint32_t size, uint8_t* header,
                                  PacketNote& note) {
  const double rtt = this->rtt();
  const double rate = std::max(rate_, 1.0F);
  const double wanted = std::min({double{deadline_.rate()}, s.limit, s.line});
  double preload = asked_ ? 0 : std::max((wanted - rate) * rtt / size, 0.0);
  if (s.unsent <= rate * rtt) preload = -1;  // the last round trip returns the rate
  asked_ = true;
  const auto slot = static_cast<float>(size / rate);
  store({.rtt_ns = rtt_ns_,
         .reserve = deadline_.price(),
         .age_ns = rtt_field(s.now - priced_),
         .preload = static_cast<float>(preload),
         .balance = price_,
         .slot = slot},
        header);
  note.put(Promised{slot, static_cast<float>(wanted), target_});
  return committed_;
}

// Without a grant the flow begins again as a best-effort flow: no link expects its rate.
Allowance ReserveFlow::restart(const FlowState& s) {
  cells_ = {};
  return set_rate(s, std::min<double>(rate_, s.packet_size / seconds_of(s.smoothed_rtt)));
}

double ReserveFlow::write_fin(const FlowState& s, uint32_t size, uint8_t* header,
                              PacketNote& note) {
  store({.rtt_ns = rtt_ns_,
         .age_ns = rtt_field(s.now - priced_),
         .preload = -1,
         .balance = price_,
         .slot = static_cast<float>(size / std::max(rate_, 1.0F))},
        header);
  note.put(Promised{});
  return committed_;
}

// A promise lives for a part of the round trip in its header, and counts the less at a time the
// longer it lives. Were that round trip to rise at once, the promises made before would end long
// before those made after it sum up to as much, and links would see a part of the flow only. A
// router that was descheduled delays all packets of a round trip so. Rising by kRise of the time
// that passes, the promises sum up to 0.89 of the flow at least: with lives that grow by r = kRise
// x life_ = 1/4 of the time, ln(1 + r) / r.
void ReserveFlow::take_round_trip(const FlowState& s) {
  const uint32_t now = micros(s.now), passed = now - timed_us_;
  rtt_ns_ =
      static_cast<uint32_t>(std::min<double>(rtt_field(s.rtt), rtt_ns_ + kRise * 1e3 * passed));
  timed_us_ = now;
}

Allowance ReserveFlow::on_ack(const FlowState& s, const PacketNote& note, const uint8_t* header) {
  const Nanos sent = s.now - std::max(s.rtt, s.answered_after);
  if (deadline_.outdates(sent)) [[unlikely]]
    return reprice(s);
  const bool credible = take_price(load(header), price_);
  if (credible) priced_ = sent;
  const bool refused = deadline_.refused_by(price_, s.now);
  Allowance allowance = refused ? restart(s) : on_ack_without_feedback(s, note);
  allowance.credible = credible;
  return allowance;
}

Allowance ReserveFlow::on_ack_without_feedback(const FlowState& s, const PacketNote& note) {
  const auto promised = note.get<Promised>();
  // Slots without a promise are the flow's last ones: data that a higher price delays is sent at
  // the present rate.
  take_round_trip(s);
  if (promised.rate > 0) remember(promised, life());
  return reprice(s);
}

// Without ACKs, links no longer count the flow.
Allowance ReserveFlow::on_timeout(const FlowState& s) {
  cells_ = {};
  return set_rate(s, std::min<double>(rate_, s.packet_size / seconds_of(s.smoothed_rtt)));
}

// Unused slots promise nothing. One packet per RTT suffices to announce the flow again.
Allowance ReserveFlow::on_pause(const FlowState& s, Nanos idle) {
  const double span = life();
  remember({static_cast<float>(to_seconds(idle)), 0, 0}, span);
  const double least =
      std::min(s.packet_size / seconds_of(s.smoothed_rtt), double{target_} / price_);
  return set_rate(s, std::max(promised_rate(span), least));
}

void ReserveFlow::remember(const Promised& p, double span) {
  constexpr double kPart = 1.001 / (kCells - 1);  // of the span, in one cell
  Cell* cell = &cells_[head_];
  if (cell->slot > 0 && cell->slot + p.slot > span * kPart) {
    head_ = (head_ + 1) % kCells;
    cell = &cells_[head_];
    *cell = {};
  }
  cell->slot += p.slot;
  cell->rate_slot += p.slot * p.rate;
  cell->budget_slot += p.slot * p.budget;
}

double ReserveFlow::promised_rate(double span) const {
  double slots = 0, bytes = 0;
  for (size_t i = 0; i < kCells && slots < span; ++i) {
    const Cell& c = cells_[(head_ + kCells - i) % kCells];
    if (c.slot <= 0) break;
    const double share = part_of(span - slots, c.slot);
    slots += share * c.slot;
    bytes += share * std::min<double>(c.rate_slot, c.budget_slot / price_);
  }
  return slots > 0 ? bytes / slots : 0;
}

// Sets the rate by the newest price; before the first promise is acknowledged, at most the rate
// that the budget buys.
Allowance ReserveFlow::reprice(const FlowState& s) {
  const double last = cells_[head_].slot;
  return set_rate(s, last > 0 ? promised_rate(std::max(life(), last))
                              : std::min<double>(rate_, double{target_} / price_));
}

// Limits the rate so that the host pays at most its remaining budget, regardless of promises.
Allowance ReserveFlow::set_rate(const FlowState& s, double wanted) {
  const double most = std::max(committed_ + s.headroom, 0.0);
  const double paid = std::min({wanted, most / price_, s.limit, s.line});
  committed_ = paid * price_;
  const double floor = floor_of(s);
  rate_ = static_cast<float>(std::max(paid, floor));
  return allow(floor);
}

}  // namespace turnpike::fcp
