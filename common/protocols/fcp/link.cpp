// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/link.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "common/protocols/fcp/price_noise.h"
#include "common/protocols/random.h"
#include "common/protocols/relaxed.h"

namespace turnpike::fcp {

namespace {

constexpr int64_t kYoungWindows = 2;  // windows until a new link's price history is full

}  // namespace

Link::Link(ParamValues params, unsigned shards, uint64_t seed)
    : ClassLaw({.rewritten = params[kAudit] != 0 ? HeaderRange{kPriceOffset, kSlotOffset}
                                                 : HeaderRange{kPriceOffset, kReserveOffset}}),
      params_(std::move(params)),
      credit_(static_cast<Credit>(params_[kCredit])),
      past_price_(static_cast<PastPrice>(params_[kPastPrice])),
      storage_(std::make_unique_for_overwrite<Shard[]>(shards)) {
  shards_ = {storage_.get(), shards};
  for (Shard& s : shards_) s.set_window(window_of(Sums{}));
  for (Shard& s : shards_) s.charge.start(static_cast<Audit>(params_[kAudit]));
  for (unsigned i = 0; i < shards; ++i) shards_[i].random = SplitMix64(seed, i).next() | 1;
}

// The window follows its new length with the next burst.
bool Link::take_settings(LinkLaw& made, std::span<const uint16_t> /*groups*/) {
  auto* m = dynamic_cast<Link*>(&made);
  if (m == nullptr) return false;
  take_traits(made);
  take_factor(*m);
  for (size_t i = 0; i < shards_.size() && params_[kAudit] != m->params_[kAudit]; ++i)
    std::swap(shards_[i].charge, m->shards_[i].charge);
  std::swap(params_, m->params_);
  credit_ = m->credit_;
  past_price_ = m->past_price_;
  return true;
}

// pi of equation 3. A SYN has paid nothing yet and has no round trip: it counts at today's price.
// The minimum with the balance limits each link to its own share of a path's spend.
void Link::value(const Shard& shard, HeaderBatch& rows, Nanos now) const {
  // A byte whose past price is unknown counts for at most today's price, whatever its header says.
  // Only a link that has just come up accepts the balance.
  const double today = shard.price;
  const bool young = now - shard.history.first() < shard.d * kYoungWindows;
  const double unknown = young ? kMaxPrice : today;
  if (past_price_ != PastPrice::kBalance)
    shard.history.at(now, {rows.rtt_ns.data(), rows.count}, rows.paid.data());
  if (shard.charge.on())
    shard.charge.add(rows, rows.age_ns.data(),
                     young ? std::numeric_limits<double>::infinity() : today, now);
  if (past_price_ == PastPrice::kLesser) {
    rows.cap_at_balance(today, unknown);
    return;
  }
  for (size_t k = 0; k < rows.count; ++k) {
    if (past_price_ == PastPrice::kBalance)
      rows.paid[k] = rows.balance_of(k);
    else if (std::isnan(rows.paid[k]))
      rows.paid[k] = std::min(unknown, rows.balance_of(k));
    if (rows.rtt_ns[k] == 0) rows.paid[k] = today;
  }
}

void Link::fade(Shard& shard, const HeaderBatch& rows, double average_rtt) {
  for (size_t k = 0; k < rows.count; ++k) {
    if (rows.promised[k] == 0) continue;
    const Nanos rtt = rows.rtt_ns[k] != 0 ? Nanos(rows.rtt_ns[k]) : from_seconds(average_rtt);
    shard.credit.add(rows.promised[k], rtt);
  }
}

Link::Sums Link::own_sums(const Shard& shard) const {
  Sums sums = shard.window.totals();
  if (credit_ == Credit::kFading) sums[kPromised] += shard.credit.total();
  return sums;
}

Link::Sums Link::add_other_shards(Sums sums, unsigned shard) const {
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

double Link::price_of(double incoming, double unpriced, double per_d, const LinkState& link) const {
  // Unpriced traffic may take the whole link, but the price must stay finite.
  const double capacity = std::max(link.capacity - unpriced * per_d, 0.01 * link.capacity);
  return std::clamp<double>(incoming / usable(capacity, per_d, link), kMinPrice.count(), kMaxPrice);
}

// The paper's budgets are spent at any price.
Demand Link::demand(unsigned index, double /*price*/) const {
  const Shard& shard = shards_[index];
  return {read(shard.published.incoming), shard.unpriced};
}

uint64_t Link::arrive(unsigned index, std::span<LinkPacket> burst, const LinkState& link,
                      Nanos now) {
  Shard& shard = shards_[index];
  shard.window.advance(now, shard.d);
  const bool fading = credit_ == Credit::kFading;
  if (fading) shard.credit.advance(now, shard.d);
  const double average_rtt = to_seconds(shard.d) / params_[kWindow];

  HeaderBatch rows;  // one for each packet
  const HeaderBatch::Arrivals arrived = rows.read<HeaderBatch::Counted::kAdmitted>(burst);
  if (rows.foreign || worth() != 1) [[unlikely]] {
    std::array<float, HeaderBatch::kMax> rates;
    rates.fill(worth());
    rows.convert(rates.data(), false);
  }
  value(shard, rows, now);
  const HeaderBatch::Totals totals = rows.total({.per_d = shard.per_d,
                                                 .average_rtt = average_rtt,
                                                 .max_commitment = params_[kMaxCommitment]});
  if (fading && rows.promises) fade(shard, rows, average_rtt);
  shard.window.add({totals.base, fading ? 0 : totals.promised, totals.rtt, totals.rtt_count,
                    static_cast<double>(arrived.unpriced_bytes)});

  Sums own = own_sums(shard), all = add_other_shards(own, index);
  // A window grows no faster than time passes: older sums have expired.
  const Nanos window = std::min(window_of(all), shard.d + (now - shard.last));
  shard.last = now;
  // Rounding may change it by 1 ns: saves a second advance.
  if (window > shard.d || window < shard.d - 1_ns) {
    shard.set_window(window);
    shard.window.advance(now, window);
    own = own_sums(shard);
    all = add_other_shards(own, index);
  }
  const double incoming = std::max(all[kBase] * shard.per_d + all[kPromised], 0.0);
  shard.unpriced = all[kUnpriced] * shard.per_d;
  shard.published.incoming.store(incoming, std::memory_order_relaxed);
  if (rule() == nullptr) [[likely]] {
    shard.price = price_of(incoming, all[kUnpriced], shard.per_d, link);
  } else {
    shard.price =
        std::clamp<double>(rule()->price(index, usable(link.capacity, shard.per_d, link), 0),
                           kMinPrice.count(), kMaxPrice);
  }
  if (params_[kNoise] != 0) [[unlikely]]
    shard.price *= price_noise(params_, shard.random, now);
  // Record only prices stamped on packets; housekeeping bursts are not history.
  if (!burst.empty()) {
    shard.history.record(now, shard.price);
    shard.charge.record(now, shard.price);
  }

  for (size_t f = 0; f < kFields; ++f)
    shard.published.sums[f].store(own[f], std::memory_order_relaxed);
  shard.published.price.store(shard.price, std::memory_order_relaxed);
  if (totals.clipped != 0) [[unlikely]]
    shard.clipped.store(shard.clipped.load(std::memory_order_relaxed) + totals.clipped,
                        std::memory_order_relaxed);

  rows.stamp(shard.price, burst, totals.refused);
  return totals.refused;
}

size_t Link::gauges(std::span<Gauge> out) const {
  double price = 0, incoming = 0, rtt = 0, count = 0, clipped = 0;
  for (const Shard& s : shards_) {
    price = std::max(price, s.published.price.load(std::memory_order_relaxed));
    incoming = std::max(incoming, s.published.incoming.load(std::memory_order_relaxed));
    rtt += s.published.sums[kRtt].load(std::memory_order_relaxed);
    count += s.published.sums[kRttCount].load(std::memory_order_relaxed);
    clipped += static_cast<double>(s.clipped.load(std::memory_order_relaxed));
  }
  return write_gauges(out, {{"price", price},
                            {"incoming_budget", incoming},
                            {"average_rtt_ms", count >= 0.5 ? 1e3 * rtt / count : 0},
                            {"clipped", clipped}});
}

}  // namespace turnpike::fcp
