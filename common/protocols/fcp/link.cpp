// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/link.h"

#include <algorithm>
#include <utility>

namespace turnpike::fcp {

Link::Link(ParamValues params, unsigned shards)
    : params_(std::move(params)),
      credit_(static_cast<Credit>(params_[kCredit])),
      past_price_(static_cast<PastPrice>(params_[kPastPrice])),
      storage_(std::make_unique<Shard[]>(shards)) {
  shards_ = {storage_.get(), shards};
  for (Shard& s : shards_) s.d = outlook(0).d;
}

// pi of equation 3. A SYN has paid nothing yet and knows no round trip: it counts at today's price.
// The minimum with the balance keeps each link to its own share of a path's spend.
double Link::value_of(const Shard& shard, const Header& h, bool opens, Nanos now) const {
  if (opens || h.rtt_ns == 0) return shard.price;
  if (past_price_ == PastPrice::kBalance) return h.balance;
  const auto then = shard.history.at(now - Nanos(h.rtt_ns));
  if (then && past_price_ == PastPrice::kHistory) return *then;
  return then ? std::min<double>(*then, h.balance) : h.balance;
}

Link::Sums Link::own_sums(const Shard& shard) const {
  Sums sums = shard.window.totals();
  sums[kPromised] += shard.credit.total();
  return sums;
}

// A disturbance for experiments: a factor drawn anew for every price (figure 8).
double Link::noise(Shard& shard, Nanos now) const {
  if (params_[kNoise] == 0) return 1;
  if (now.count() % from_seconds(params_[kNoiseEvery]).count() >=
      from_seconds(params_[kNoiseFor]).count())
    return 1;
  shard.random ^= shard.random << 13;  // Marsaglia's xorshift64
  shard.random ^= shard.random >> 7;
  shard.random ^= shard.random << 17;
  return 1 + params_[kNoise] * (static_cast<double>(shard.random >> 11) * 0x1p-52 - 1);
}

Link::Outlook Link::outlook(unsigned shard) const {
  Outlook all{own_sums(shards_[shard]), params_[kFirstRtt], Nanos(0)};
  for (unsigned i = 0; i < shards_.size(); ++i) {
    if (i == shard) continue;
    for (size_t f = 0; f < kFields; ++f)
      all.sums[f] += shards_[i].published.sums[f].load(std::memory_order_relaxed);
  }
  if (all.sums[kRttCount] >= 0.5) all.average_rtt = all.sums[kRtt] / all.sums[kRttCount];
  all.d = from_seconds(
      std::clamp(params_[kWindow] * all.average_rtt, params_[kMinWindow], params_[kMaxWindow]));
  return all;
}

double Link::price_of(const Outlook& all, const LinkState& link) const {
  const double d = to_seconds(all.d);
  const double incoming = std::max(all.sums[kBase] / d + all.sums[kPromised], 0.0);
  // Unpriced traffic may take all of the link, but the price must stay a number.
  const double capacity = std::max(link.capacity - all.sums[kUnpriced] / d, 0.01 * link.capacity);
  const double usable =
      std::max(capacity - params_[kAlpha] * link.queue / d, params_[kFloor] * capacity);
  return std::clamp<double>(incoming / usable, kMinPrice.count(), kMaxPrice);
}

uint64_t Link::arrive(unsigned index, std::span<PricedPacket> burst, const LinkState& link,
                      Nanos now) {
  Shard& shard = shards_[index];
  shard.window.advance(now, shard.d);
  const bool fading = credit_ == Credit::kFading;
  if (fading) shard.credit.advance(now, shard.d);
  const double d = to_seconds(shard.d);
  const double average_rtt = d / params_[kWindow];

  Sums sums{};
  uint64_t refused = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const PricedPacket& p = burst[i];
    if (p.header == nullptr) {
      if (p.admitted) sums[kUnpriced] += p.size;
      continue;
    }
    const Header h = load(p.header);
    const double rtt = h.rtt_ns != 0 ? h.rtt_ns * 1e-9 : average_rtt;
    const double worth = value_of(shard, h, p.opens, now) * p.size;
    if (!credible(h) || worth * h.preload > params_[kMaxCommitment] * rtt) {
      refused |= uint64_t{1} << i;
      continue;
    }
    if (!p.admitted) continue;
    sums[kBase] += worth;
    // 1 + preload d/rtt must not be negative: a packet can take back no more than it brings.
    const double promised = worth * std::max<double>(h.preload, -rtt / d) / rtt;
    if (!fading) {
      sums[kPromised] += promised;
    } else if (promised != 0) {
      shard.credit.add(promised, from_seconds(rtt));
    }
    if (h.rtt_ns != 0) {
      sums[kRtt] += rtt;
      sums[kRttCount] += 1;
    }
  }
  shard.window.add(sums);

  Outlook all = outlook(index);
  // A window grows no faster than time passes: what it would reach back to is forgotten.
  all.d = std::min(all.d, shard.d + (now - shard.last));
  shard.last = now;
  if (all.d != shard.d) {
    shard.d = all.d;
    shard.window.advance(now, shard.d);
    all.sums = outlook(index).sums;
  }
  shard.price = price_of(all, link) * noise(shard, now);
  if (!burst.empty()) shard.history.record(now, shard.price);  // what nobody paid is no past price

  const Sums own = own_sums(shard);
  for (size_t f = 0; f < kFields; ++f)
    shard.published.sums[f].store(own[f], std::memory_order_relaxed);
  shard.published.price.store(shard.price, std::memory_order_relaxed);
  shard.published.incoming.store(
      std::max(all.sums[kBase] / to_seconds(all.d) + all.sums[kPromised], 0.0),
      std::memory_order_relaxed);

  for (size_t i = 0; i < burst.size(); ++i) {
    const PricedPacket& p = burst[i];
    if (p.header == nullptr || !p.admitted || (refused >> i & 1)) continue;
    const double path = wire::load_f32(p.header + kPriceOffset);
    const double sum = std::min<double>(add_prices(path, shard.price), kMaxPrice);
    wire::store_f32(p.header + kPriceOffset, static_cast<float>(sum));
  }
  return refused;
}

size_t Link::gauges(std::span<Gauge> out) const {
  double price = 0, incoming = 0, rtt = 0, count = 0;
  for (const Shard& s : shards_) {
    price = std::max(price, s.published.price.load(std::memory_order_relaxed));
    incoming = std::max(incoming, s.published.incoming.load(std::memory_order_relaxed));
    rtt += s.published.sums[kRtt].load(std::memory_order_relaxed);
    count += s.published.sums[kRttCount].load(std::memory_order_relaxed);
  }
  const std::array<Gauge, 3> all{{{"price", price},
                                  {"incoming_budget", incoming},
                                  {"average_rtt_ms", count >= 0.5 ? 1e3 * rtt / count : 0}}};
  const size_t n = std::min(all.size(), out.size());
  std::copy_n(all.begin(), n, out.begin());
  return n;
}

}  // namespace turnpike::fcp
