// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/link.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/protocols/random.h"

namespace turnpike::fcp {

Link::Link(ParamValues params, unsigned shards, uint64_t seed)
    : params_(std::move(params)),
      credit_(static_cast<Credit>(params_[kCredit])),
      past_price_(static_cast<PastPrice>(params_[kPastPrice])),
      storage_(std::make_unique<Shard[]>(shards)) {
  shards_ = {storage_.get(), shards};
  for (Shard& s : shards_) s.d = window_of(Sums{});
  for (unsigned i = 0; i < shards; ++i) shards_[i].random = SplitMix64(seed, i).next() | 1;
}

// pi of equation 3. A SYN has paid nothing yet and knows no round trip: it counts at today's price.
// The minimum with the balance keeps each link to its own share of a path's spend.
void Link::value(const Shard& shard, Columns& rows, uint64_t opening, Nanos now) const {
  const double today = shard.price;
  if (past_price_ != PastPrice::kBalance)
    shard.history.at(now, {rows.rtt_ns.data(), rows.count}, rows.paid.data());
  if (past_price_ == PastPrice::kLesser) {
    rows.pay_lesser(today);
  } else {
    for (size_t k = 0; k < rows.count; ++k) {
      if (past_price_ == PastPrice::kBalance || std::isnan(rows.paid[k]))
        rows.paid[k] = rows.balance_of(k);
      if (rows.rtt_ns[k] == 0) rows.paid[k] = today;
    }
  }
  for (; opening != 0; opening &= opening - 1)
    rows.paid[static_cast<size_t>(std::countr_zero(opening))] = today;
}

Link::Sums Link::sum_of(const Sums& a, const Sums& b) {
  Sums sum;
  for (size_t f = 0; f < kFields; ++f) sum[f] = a[f] + b[f];
  return sum;
}

Link::Sums Link::own_sums(const Shard& shard) const {
  Sums sums = shard.window.totals();
  sums[kPromised] += shard.credit.total();
  return sums;
}

void Link::fade(Shard& shard, const Columns& rows, double average_rtt) {
  for (size_t k = 0; k < rows.count; ++k) {
    if (rows.promised[k] == 0) continue;
    const Nanos rtt = rows.rtt_ns[k] != 0 ? Nanos(rows.rtt_ns[k]) : from_seconds(average_rtt);
    shard.credit.add(rows.promised[k], rtt);
  }
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

Link::Sums Link::others_sums(unsigned shard) const {
  Sums sums{};
  for (unsigned i = 0; i < shards_.size(); ++i) {
    if (i == shard) continue;
    for (size_t f = 0; f < kFields; ++f)
      sums[f] += shards_[i].published.sums[f].load(std::memory_order_relaxed);
  }
  return sums;
}

Nanos Link::window_of(const Sums& all) const {
  double average_rtt = params_[kFirstRtt];
  if (all[kRttCount] >= 0.5) average_rtt = all[kRtt] / all[kRttCount];
  return from_seconds(
      std::clamp(params_[kWindow] * average_rtt, params_[kMinWindow], params_[kMaxWindow]));
}

double Link::price_of(double incoming, double unpriced, double d, const LinkState& link) const {
  // Unpriced traffic may take all of the link, but the price must stay a number.
  const double capacity = std::max(link.capacity - unpriced / d, 0.01 * link.capacity);
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
  double d = to_seconds(shard.d);
  const double average_rtt = d / params_[kWindow];

  Sums sums{};
  Columns rows;
  std::array<uint8_t, Columns::kMost> at;  // row's place in the burst
  uint64_t opening = 0;                    // rows
  bool all_admitted = true;
  size_t n = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    const PricedPacket& p = burst[i];
    if (p.header == nullptr) {
      if (p.admitted) sums[kUnpriced] += p.size;
      continue;
    }
    at[n] = static_cast<uint8_t>(i);
    opening |= uint64_t{p.opens} << n;
    all_admitted &= p.admitted;
    rows.put(n++, p.header, p.size, p.admitted);
  }
  rows.count = n;
  rows.decode();
  value(shard, rows, opening, now);
  const Columns::Totals totals =
      rows.total({.d = d, .average_rtt = average_rtt, .max_commitment = params_[kMaxCommitment]});
  sums[kBase] = totals.base;
  sums[kRtt] = totals.rtt;
  sums[kRttCount] = totals.rtt_count;
  if (fading) {
    if (rows.promises) fade(shard, rows, average_rtt);
  } else {
    sums[kPromised] = totals.promised;
  }
  shard.window.add(sums);

  const Sums others = others_sums(index);
  Sums own = own_sums(shard), all = sum_of(own, others);
  // A window grows no faster than time passes: what it would reach back to is forgotten.
  const Nanos window = std::min(window_of(all), shard.d + (now - shard.last));
  shard.last = now;
  if (window != shard.d) {
    shard.d = window;
    shard.window.advance(now, window);
    own = own_sums(shard);
    all = sum_of(own, others);
    d = to_seconds(window);
  }
  const double incoming = std::max(all[kBase] / d + all[kPromised], 0.0);
  shard.price = price_of(incoming, all[kUnpriced], d, link) * noise(shard, now);
  if (!burst.empty()) shard.history.record(now, shard.price);  // what nobody paid is no past price

  for (size_t f = 0; f < kFields; ++f)
    shard.published.sums[f].store(own[f], std::memory_order_relaxed);
  shard.published.price.store(shard.price, std::memory_order_relaxed);
  shard.published.incoming.store(incoming, std::memory_order_relaxed);

  rows.stamp(shard.price);
  const bool all_stamped = all_admitted && totals.refused == 0;
  uint64_t refused = 0;
  for (size_t k = 0; k < n; ++k) {
    const PricedPacket& p = burst[at[k]];
    if (all_stamped || (p.admitted && (totals.refused >> k & 1) == 0)) {
      std::memcpy(p.header + kPriceOffset, &rows.price[k], sizeof rows.price[k]);
    } else if ((totals.refused >> k & 1) != 0) {
      refused |= uint64_t{1} << at[k];
    }
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
