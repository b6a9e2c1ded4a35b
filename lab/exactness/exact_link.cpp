// SPDX-License-Identifier: BSD-3-Clause
#include "lab/exactness/exact_link.h"

#include <algorithm>
#include <cmath>

#include "common/protocols/fcp/header.h"
#include "common/protocols/fcp/price_noise.h"

namespace turnpike::lab {

using namespace fcp;

size_t ExactPrice::first_in_window(Nanos now, Nanos d) const {
  const auto first = std::ranges::upper_bound(packets_, now - d, {}, &Packet::at);
  return static_cast<size_t>(first - packets_.begin());
}

double ExactPrice::average_rtt(Nanos now) const {
  const size_t first = first_in_window(now, d_);
  if (first == packets_.size()) return params_[kFirstRtt];
  const bool all = first == 0;
  const int64_t rtts = packets_.back().rtts - (all ? 0 : packets_[first - 1].rtts);
  const int64_t counted = packets_.back().counted - (all ? 0 : packets_[first - 1].counted);
  return counted == 0 ? params_[kFirstRtt]
                      : 1e-9 * static_cast<double>(rtts) / static_cast<double>(counted);
}

double ExactPrice::value_of(const LinkPacket& p, Nanos now) const {
  const Header h = load(p.header);
  if (p.opens || h.rtt_ns == 0) return price_;
  const auto rule = static_cast<PastPrice>(params_[kPastPrice]);
  const auto after = std::ranges::upper_bound(stamps_, now - Nanos(h.rtt_ns), {}, &Stamp::at);
  const bool young = stamps_.empty() || now - stamps_.front().at < d_ * 2;
  if (rule == PastPrice::kBalance || (young && after == stamps_.begin())) return h.balance;
  if (after == stamps_.begin()) return std::min<double>(price_, h.balance);
  const double then = std::prev(after)->price;
  return rule == PastPrice::kHistory ? then : std::min<double>(then, h.balance);
}

// The price of a window of length d that begins with that packet.
double ExactPrice::price_since(size_t first) const {
  double worth = 0, promised = 0, unpriced = 0;
  for (size_t i = first; i < packets_.size(); ++i) {
    worth += packets_[i].worth;
    promised += packets_[i].promised;
    unpriced += packets_[i].unpriced;
  }
  const double d = to_seconds(d_);
  const double incoming = std::max(worth / d + promised, 0.0);
  const double capacity = std::max(link_.capacity - unpriced / d, 0.01 * link_.capacity);
  const double usable =
      std::max(capacity - params_[kAlpha] * link_.queue / d, params_[kFloor] * capacity);
  return std::clamp<double>(incoming / usable, kMinPrice.count(), kMaxPrice) * disturbed_;
}

uint64_t ExactPrice::take(std::span<const LinkPacket> burst, const LinkState& link, Nanos now) {
  const auto window = [&](double rtt) {
    return from_seconds(
        std::clamp(params_[kWindow] * rtt, params_[kMinWindow], params_[kMaxWindow]));
  };
  if (d_ == Nanos(0)) d_ = window(params_[kFirstRtt]);
  const double d = to_seconds(d_);
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const LinkPacket& p = burst[i];
    Packet packet{now, 0, 0, 0, 0, 0};
    if (!packets_.empty()) {
      packet.rtts = packets_.back().rtts;
      packet.counted = packets_.back().counted;
    }
    if (p.header == nullptr) {
      packet.unpriced = p.size;
    } else {
      const Header h = load(p.header);
      const double rtt = h.rtt_ns != 0 ? h.rtt_ns * 1e-9 : d / params_[kWindow];
      packet.worth = value_of(p, now) * p.size;
      packet.promised = std::min(packet.worth * std::max<double>(h.preload, -rtt / d) / rtt,
                                 params_[kMaxCommitment]);
      packet.rtts += h.rtt_ns;
      packet.counted += h.rtt_ns != 0 ? 1 : 0;
      if (!credible(h)) {
        refused |= uint64_t{1} << i;
        continue;
      }
    }
    if (p.admitted) packets_.push_back(packet);
  }
  d_ = std::min(window(average_rtt(now)), d_ + (now - last_));
  last_ = now;
  link_ = link;
  // The very numbers that the real law draws, so that figure 8's disturbance is the same in both.
  disturbed_ = params_[kNoise] != 0 ? price_noise(params_, random_, now) : 1;
  price_ = price_since(first_in_window(last_, d_));
  return refused;
}

double ExactPrice::difference(double price) const {
  const size_t longest = first_in_window(last_, d_ + d_ / 1000);
  const size_t shortest = first_in_window(last_, d_ - d_ / 1000);
  double nearest = kMaxPrice;
  for (size_t first = longest; first <= shortest; ++first)
    nearest = std::min(nearest, std::fabs(price / price_since(first) - 1));
  return nearest;
}

void ExactPrice::set(Nanos now, double price, bool stamped) {
  price_ = price;
  if (stamped) stamps_.push_back({now, price});
}

uint64_t ExactLink::arrive(unsigned /*shard*/, std::span<LinkPacket> burst, const LinkState& link,
                           Nanos now) {
  const uint64_t refused = exact_.take(burst, link, now);
  exact_.set(now, exact_.price(), !burst.empty());
  for (size_t i = 0; i < burst.size(); ++i) {
    const LinkPacket& p = burst[i];
    if (p.header == nullptr || !p.admitted || (refused >> i & 1) != 0) continue;
    const double sum = add_prices(wire::load_f32(p.header + kPriceOffset), exact_.price());
    wire::store_f32(p.header + kPriceOffset, static_cast<float>(std::min<double>(sum, kMaxPrice)));
  }
  return refused;
}

size_t ExactLink::gauges(std::span<Gauge> out) const {
  if (out.empty()) return 0;
  out[0] = {"price", exact_.price()};
  return 1;
}

ExactLink::ExactLink(const ParamValues& params, uint64_t seed)
    : LinkLaw({.rewritten = {kPriceOffset, kPriceOffset + sizeof(float)}}), exact_(params, seed) {}

}  // namespace turnpike::lab
