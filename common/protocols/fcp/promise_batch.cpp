// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/promise_batch.h"

#include <bit>
#include <cmath>

#include "common/protocols/fcp/batch_loops.h"

namespace turnpike::fcp {

namespace {

// A past price this close to the balance counts as equal to it. Prices of neighbouring bursts
// differ by as much, and the lesser of two noisy figures is too low on average.
constexpr float kSamePrice = 0.97F;
// A round trip counts in the average as at most this factor away from it.
constexpr float kRttRange = 4;
// A changed price changes a flow's gap by at most this factor.
constexpr float kMaxTurn = 4;
// How early or late a large flow's next packet may be, as a part of its gap, while the flow has few
// packets in a promise's life.
constexpr float kJitter = 0.25F;

constexpr auto kMinBalance = static_cast<float>(kMinPrice.count());  // $/B
constexpr auto kBuckets = static_cast<uint32_t>(Knees::kBuckets);

// A comparison with NaN is false, so that these return `b` for a NaN.
[[gnu::always_inline]] inline float lesser(float a, float b) { return a < b ? a : b; }
[[gnu::always_inline]] inline float greater(float a, float b) { return a > b ? a : b; }

}  // namespace

TURNPIKE_WIDEST
void PromiseBatch::look_back() {
  const size_t n = headers.rows();
  for (size_t k = 0; k < n; ++k) {
    const uint32_t rtt = headers.rtt_ns[k], age = headers.age_ns[k];
    ago[k] = rtt > age ? rtt : age;
  }
}

// credible() of fcp/header.h, without the slot's sign, which is a flag.
[[gnu::always_inline]] inline int32_t PromiseBatch::validate(size_t k) const {
  const HeaderBatch& h = headers;
  return amount(h.price[k], kMaxPrice) & amount(h.balance[k], kMaxPrice) &
         amount(h.reserve[k], kMaxPrice) & amount(h.slot[k] & ~kSign, kMaxPrice) &
         amount(h.preload[k] & ~kSign, kMaxPreload) & positive(h.exchange[k], kMaxPrice) &
         amount(h.charged[k], kMaxPrice) &
         (static_cast<int32_t>(h.rtt_ns[k] == 0) | static_cast<int32_t>(h.rtt_ns[k] >= kMinRttNs));
}

// The packet's bytes divided by the time for which it was sent, and the promise's life: until the
// flow's next packet. A flow that sends less than a packet per round trip has this packet's price
// by then, and waits for what is left of its gap at that price (docs/control.md).
//
// Where a large flow's packet arrives, the sum of its promises must not depend on which side of the
// arrival an older one ends (ReserveLink::arrive). So a promise that outlives several packets ends
// halfway between two; of one that lives until the next packet, half ends before and half after it.
[[gnu::always_inline]] inline void PromiseBatch::spread(size_t k, const Terms& t, float size) {
  const float least = t.average_rtt / kRttRange, most = t.average_rtt * kRttRange;
  constexpr auto kReach = static_cast<float>(PromiseWheel::kSlots - 2);
  const float rtt = static_cast<float>(headers.rtt_ns[k]) * 1e-9F;
  const float slot = number(headers.slot[k] & ~kSign);
  const float usual = lesser(greater(greater(slot, rtt), least), most);

  const float reserve = number(headers.reserve[k]);
  const float balance = greater(number(headers.balance[k]), kMinBalance);
  const auto then = static_cast<float>(headers.paid[k]);
  const float change = then == then ? t.price - then : 0.0F;  // of this link's price; 0 if NaN
  const float turn = greater(balance + change, reserve) / greater(balance, reserve);
  const float rest = greater(slot - rtt, 0.0F) * lesser(greater(turn, 1 / kMaxTurn), kMaxTurn);
  const float shortest = greater(t.life * rtt, t.scale.tick);
  const float life = greater(lesser(slot, rtt) + rest, shortest);
  const float own = size / greater(slot, shortest);

  const float gap = greater(slot, t.scale.tick), gaps = 1 / gap;  // per s
  const float between = (std::floor(shortest * gaps) + 0.5F) * gap;
  // GCC vectorises conditions of conditions only as numbers. Ends are rounded to ticks.
  const float large = own > t.large ? 1.0F : 0.0F, few = slot >= shortest ? 1.0F : 0.0F;
  const float apart = gap >= 2 * t.scale.tick ? 1.0F : 0.0F;
  const float split = large * few, several = large * (1 - few) * apart;

  const float early = life * (1 - kJitter), late = life * (1 + kJitter);
  const float first = split > 0 ? early : life, end = several > 0 ? between : first;
  const float ticks = lesser(t.scale.passed + end * t.scale.ticks, kReach);
  const auto second = static_cast<int32_t>(lesser(t.scale.passed + late * t.scale.ticks, kReach));
  const float scaled = own * (shortest / between);
  rtt_rate[k] = several > 0 ? scaled : own;
  rtt_sum[k] = rtt_rate[k] * usual;
  places[k] = static_cast<uint32_t>(static_cast<int32_t>(ticks)) * kBuckets;
  second_[k] = split > 0 ? second : -1;
}

[[gnu::always_inline]] inline void PromiseBatch::demand(size_t k, const Terms& t) {
  const float change = 1 + number(headers.preload[k]);
  const float most = t.growth * rtt_rate[k];
  const float next = change > 0 ? lesser(rtt_rate[k] * change, most) : 0.0F;

  // The part of the packet's payment that is this link's price.
  const float reserve = number(headers.reserve[k]);
  const float balance = greater(number(headers.balance[k]), kMinBalance);
  const auto past = static_cast<float>(headers.paid[k]);
  const float then = past == past ? past : t.unknown;  // true unless NaN
  const bool alone = then >= kSamePrice * balance;
  const float pays = alone ? balance : then;

  // Inelastic flow: its knee at this link lies above the price by as much as its reserve above the
  // path's price. Elastic flow: the knee lies below the price that it pays.
  const bool inelastic = reserve >= balance;
  const float wants = lesser(next * (balance / reserve), most);
  const float spends = next * pays;
  const float knee_above = pays + (reserve - balance);
  const float knee_by_rate = spends / wants;
  const float knee_of_path = wants < most ? reserve : knee_by_rate;
  const float knee_below = alone ? knee_of_path : knee_by_rate;
  const float knee = inelastic ? knee_above : knee_below;
  const float rate_there = inelastic ? next : wants;
  const float budget_there = inelastic ? next * knee_above : spends;
  next_[k] = next;
  const float share = second_[k] < 0 ? 1.0F : 0.5F;
  rate[k] = next > 0 ? share * rate_there : 0.0F;
  budget[k] = next > 0 ? share * budget_there : 0.0F;
  rtt_rate[k] *= share;
  rtt_sum[k] *= share;
  places[k] += static_cast<uint32_t>(Knees::bucket_of(knee));
}

[[gnu::always_inline]] inline void PromiseBatch::count(size_t k, const Terms& t,
                                                       Totals& totals) const {
  const auto counted = static_cast<uint32_t>(rtt_rate[k] > 0);
  const auto size = static_cast<uint32_t>(headers.sizes[k]);
  totals.split += static_cast<uint32_t>(second_[k] >= 0);
  totals.clipped += counted & static_cast<uint32_t>(1 + number(headers.preload[k]) > t.growth);
  totals.first_bytes += (counted & headers.slot[k] >> 31) * size;
}

PromiseBatch::Totals PromiseBatch::reckon(const Terms& terms) {
  return headers.rows() % kLanes == 0 ? reckon_many(terms) : reckon_few(terms);
}

PromiseBatch::Totals PromiseBatch::reckon_few(const Terms& terms) {
  Totals totals;
  for (size_t k = 0; k < headers.count; ++k) {
    const bool sound = validate(k) != 0;
    if (!sound) [[unlikely]]
      totals.refused |= uint64_t{1} << k;
    spread(k, terms, sound ? static_cast<float>(headers.sizes[k]) : 0.0F);
    demand(k, terms);
    count(k, terms, totals);
    totals.rate += next_[k];
  }
  return totals;
}

// Rows that are not credible may hold any number; their size counts as zero, which zeroes all their
// contributions.
TURNPIKE_WIDEST
PromiseBatch::Totals PromiseBatch::reckon_many(const Terms& terms) {
  const Terms t = terms;
  const size_t n = headers.rows();
  int32_t every = 1;
  for (size_t k = 0; k < n; ++k) every &= sound_[k] = validate(k);
  for (size_t k = 0; k < n; ++k)
    spread(k, t, sound_[k] != 0 ? static_cast<float>(headers.sizes[k]) : 0.0F);
  for (size_t k = 0; k < n; ++k) demand(k, t);
  Totals totals;
  for (size_t k = 0; k < n; ++k) count(k, t, totals);
  totals.rate = sum_of(next_.data(), n);
  if (every == 0) [[unlikely]]
    for (size_t k = 0; k < headers.count; ++k) totals.refused |= uint64_t{sound_[k] == 0} << k;
  return totals;
}

uint64_t PromiseBatch::add_to(PromiseWheel& wheel, const Totals& totals) const {
  uint32_t left = totals.split;
  for (size_t k = 0; left > 0; ++k) {
    if (second_[k] < 0) continue;
    wheel.add({.bucket = places[k] % kBuckets,
               .rate = rate[k],
               .budget = budget[k],
               .rtt_rate = rtt_rate[k],
               .rtt_sum = rtt_sum[k]},
              wheel.tick() + 1 + second_[k]);
    --left;
  }
  return wheel.add(
      {headers.count, places.data(), rate.data(), budget.data(), rtt_rate.data(), rtt_sum.data()});
}

}  // namespace turnpike::fcp
