// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/cheating_flow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace turnpike::fcp {
namespace {

bool has(LieSet lies, CheatingParam lie) { return (lies >> lie & 1) != 0; }

// A price, balance, reserve or slot times a factor; 0 keeps its meaning of "none".
float scaled(float amount, double factor) {
  if (amount == 0) return 0;
  return static_cast<float>(std::clamp<double>(amount * factor, 2e-38, kMaxPrice));
}

float preload_of(double value) {
  const double most = 0.99 * kMaxPreload;
  const auto preload = static_cast<float>(std::clamp(value, -most, most));
  return std::fabs(preload) < kMinNormal ? 0 : preload;
}

uint32_t time_of(uint32_t ns, double factor) {
  if (ns == 0) return 0;
  return static_cast<uint32_t>(std::clamp<double>(ns * factor, kMinRttNs, UINT32_MAX));
}

}  // namespace

float LowestPrice::add(float price, Nanos now) {
  const int64_t number = now.count() / std::max<int64_t>(part_.count(), 1);
  Part& present = parts_[static_cast<size_t>(number) % kParts];
  if (present.number != number) present = {number, price};
  present.price = std::min(present.price, price);
  for (const Part& p : parts_)
    if (p.number > number - static_cast<int64_t>(kParts) && p.number <= number)
      price = std::min(price, p.price);
  return price;
}

LieSchedule::LieSchedule(const ParamValues& values, size_t first)
    : lies_(lies_in(values, first)),
      after_(from_seconds(values[first + kCheatAfter])),
      for_(from_seconds(values[first + kCheatFor])),
      rest_(from_seconds(values[first + kRestFor])),
      period_(from_seconds(values[first + kAdapt])) {}

LieSet LieSchedule::at(Nanos now) {
  if (!begun_) {
    begun_ = true;
    begin_ = now + after_;
    review_ = begin_ + period_;
  }
  if (now < begin_) return 0;
  if (for_ > Nanos(0) && (now - begin_).count() % (for_ + rest_).count() >= for_.count()) return 0;
  if (period_ == Nanos(0)) return lies_;
  if (now >= review_) {
    review();
    review_ = now + period_;
  }
  return lie_;
}

void LieSchedule::review() {
  const uint64_t packets = std::exchange(packets_, 0);
  ++periods_;
  if (trying_) {
    if (periods_ < kTrial) return;
    if (lie_ == 0 || packets > best_packets_) {
      best_ = lie_;
      best_packets_ = packets;
    }
    try_next();
  } else if (periods_ >= kTrial && packets < best_packets_ / 2) {
    trying_ = true;
    lie_ = 0;
    periods_ = 0;
  }
}

// Honesty comes first, then the lies from the lowest bit on, then the best of them.
void LieSchedule::try_next() {
  const LieSet later = lie_ == 0 ? lies_ : lies_ & ~(lie_ | (lie_ - 1));
  trying_ = later != 0;
  lie_ = trying_ ? later & ~(later - 1) : best_;
  periods_ = 0;
}

struct CheatingFlow::State {
  State(const ParamValues& params, size_t first, MakeLaw& make)
      : schedule(params, first),
        lowest(from_seconds(params[first + kReplay])),
        law(make(params, storage.data())) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = params[first + i];
  }
  [[nodiscard]] double value(CheatingParam param) const { return values[param]; }
  [[nodiscard]] double factor(CheatingParam lie) const { return has(lies, lie) ? values[lie] : 1; }

  alignas(64) std::array<std::byte, FlowLaw::kMaxBytes> storage;
  LieSchedule schedule;
  LowestPrice lowest;
  FlowLaw* law;  // in `storage`
  std::array<double, kCheatingParamCount> values{};
  LieSet lies = 0;  // in use
  Budget target{0};
};

CheatingFlow::CheatingFlow(const ParamValues& params, size_t first, MakeLaw& make)
    : s_(std::make_unique<State>(params, first, make)) {}

CheatingFlow::~CheatingFlow() { s_->law->~FlowLaw(); }

void CheatingFlow::set_target(Budget target) {
  s_->target = target;
  s_->law->set_target(Budget(target.count() * s_->factor(kBudgetLie)));
}

void CheatingFlow::follow_schedule(Nanos now) {
  const LieSet lies = s_->schedule.at(now);
  if (lies == s_->lies) return;
  s_->lies = lies;
  set_target(s_->target);
}

// The host's remaining budget bounds an honest law.
FlowState CheatingFlow::falsified(const FlowState& state) const {
  FlowState out = state;
  if (has(s_->lies, kBudgetLie)) out.headroom = std::numeric_limits<double>::infinity();
  return out;
}

Allowance CheatingFlow::falsified(Allowance allowance) const {
  if (has(s_->lies, kIgnorePrice)) {
    allowance.rate = s_->value(kIgnorePrice) / 8;  // bit/s to B/s
    allowance.window = std::numeric_limits<double>::infinity();
  }
  return allowance;
}

// Order: the bound and the replay choose a price of the network, the factor is applied to it.
void CheatingFlow::falsify_feedback(const uint8_t* header, Nanos now, uint8_t* out) {
  std::memcpy(out, header, kHeaderSize);
  Header h = load(header);
  if (!credible(h)) return;  // the inner law refuses it
  const float lowest = s_->value(kReplay) > 0 ? s_->lowest.add(h.price, now) : h.price;
  if (has(s_->lies, kReplay)) h.price = lowest;
  if (has(s_->lies, kForge)) h.price = std::min(h.price, static_cast<float>(s_->value(kForge)));
  if (has(s_->lies, kPriceLie)) h.price = scaled(h.price, s_->value(kPriceLie));
  store(h, out);
}

void CheatingFlow::falsify_packet(uint8_t* header, uint32_t size, bool data) const {
  if (s_->lies == 0) return;
  Header h = load(header);
  h.rtt_ns = time_of(h.rtt_ns, s_->factor(kRttLie));
  h.age_ns = time_of(h.age_ns, s_->factor(kAgeLie));
  h.balance = scaled(h.balance, s_->factor(kBalanceLie));
  if (has(s_->lies, kIgnorePrice) && s_->value(kDeclare) != 0)
    h.slot = static_cast<float>(size * 8 / s_->value(kIgnorePrice));
  h.slot = scaled(h.slot, s_->factor(kSlotLie));
  h.exchange = scaled(h.exchange, s_->factor(kExchangeLie));
  if (data) {
    h.reserve = scaled(h.reserve, s_->factor(kReserveLie));
    if (has(s_->lies, kPreloadLie)) h.preload = preload_of(h.preload + s_->value(kPreloadLie));
  }
  store(h, header);
}

// A SYN has other contents in some fields (fcp/header.h): only its preload is falsified. Its
// budget is that of set_target().
double CheatingFlow::write_syn(const FlowState& state, uint32_t size, uint8_t* header,
                               PacketNote& note) {
  follow_schedule(state.now);
  const double committed = s_->law->write_syn(falsified(state), size, header, note);
  if (s_->lies == 0) return committed;
  Header h = load(header);
  if (has(s_->lies, kPreloadLie))
    h.preload = preload_of(h.preload * std::max(1 + s_->value(kPreloadLie), 0.0));
  h.exchange = scaled(h.exchange, s_->factor(kExchangeLie));
  store(h, header);
  return committed;
}

double CheatingFlow::write_data(const FlowState& state, uint32_t size, uint8_t* header,
                                PacketNote& note) {
  follow_schedule(state.now);
  const double committed = s_->law->write_data(falsified(state), size, header, note);
  falsify_packet(header, size, true);
  return committed;
}

double CheatingFlow::write_fin(const FlowState& state, uint32_t size, uint8_t* header,
                               PacketNote& note) {
  follow_schedule(state.now);
  const double committed = s_->law->write_fin(falsified(state), size, header, note);
  falsify_packet(header, size, false);
  return committed;
}

Opening CheatingFlow::on_syn_ack(const FlowState& state, const PacketNote& note,
                                 const uint8_t* header) {
  follow_schedule(state.now);
  std::array<uint8_t, kHeaderSize> feedback;
  falsify_feedback(header, state.now, feedback.data());
  Opening opening = s_->law->on_syn_ack(falsified(state), note, feedback.data());
  opening.allowance = falsified(opening.allowance);
  if (has(s_->lies, kIgnorePrice)) opening.first_wait = Nanos(0);
  return opening;
}

Allowance CheatingFlow::on_ack(const FlowState& state, const PacketNote& note,
                               const uint8_t* header) {
  s_->schedule.delivered();
  follow_schedule(state.now);
  std::array<uint8_t, kHeaderSize> feedback;
  falsify_feedback(header, state.now, feedback.data());
  return falsified(s_->law->on_ack(falsified(state), note, feedback.data()));
}

Allowance CheatingFlow::on_ack_without_feedback(const FlowState& state, const PacketNote& note) {
  s_->schedule.delivered();
  follow_schedule(state.now);
  return falsified(s_->law->on_ack_without_feedback(falsified(state), note));
}

Allowance CheatingFlow::on_loss(const FlowState& state, const PacketNote& note) {
  follow_schedule(state.now);
  return falsified(s_->law->on_loss(falsified(state), note));
}

Allowance CheatingFlow::on_timeout(const FlowState& state) {
  follow_schedule(state.now);
  return falsified(s_->law->on_timeout(falsified(state)));
}

Allowance CheatingFlow::on_pause(const FlowState& state, Nanos idle) {
  follow_schedule(state.now);
  return falsified(s_->law->on_pause(falsified(state), idle));
}

}  // namespace turnpike::fcp
