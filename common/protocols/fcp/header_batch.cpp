// SPDX-License-Identifier: BSD-3-Clause
#include "common/protocols/fcp/header_batch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/protocols/fcp/batch_loops.h"

namespace turnpike::fcp {

[[gnu::always_inline]] inline void HeaderBatch::decode_row(size_t k) {
  rtt_ns[k] = wire::swap_be32(fields_[k][0]);
  price[k] = wire::swap_be32(fields_[k][1]);
  reserve[k] = wire::swap_be32(fields_[k][2]);
  age_ns[k] = wire::swap_be32(fields_[k][3]);
  preload[k] = wire::swap_be32(fields_[k][4]);
  balance[k] = wire::swap_be32(fields_[k][5]);
  const uint32_t money = wire::swap_be32(fields_[k][6]);
  exchange[k] = money & 0xffff0000;
  charged[k] = money << 16;
  slot[k] = wire::swap_be32(fields_[k][7]);
}

void HeaderBatch::decode() {
  converted = crosses = charges = false;
  if (count > kFew) return decode_many();
  promises = foreign = false;
  for (size_t k = 0; k < count; ++k) {
    decode_row(k);
    promises |= preload[k] != 0;
    foreign |= exchange[k] != std::bit_cast<uint32_t>(1.0F);
  }
}

TURNPIKE_WIDEST
void HeaderBatch::decode_many() {
  const size_t n = rows();
  for (size_t k = count; k < n; ++k) {
    put_padding(k);
    paid[k] = 0;
  }
  for (size_t k = 0; k < n; ++k) decode_row(k);
  uint32_t any = 0, other = 0;
  for (size_t k = 0; k < n; ++k) {
    any |= preload[k];
    other |= exchange[k] ^ std::bit_cast<uint32_t>(1.0F);
  }
  promises = any != 0;
  foreign = other != 0;
}

// An amount in another currency. Keeps zero, and what is not credible; a credible amount stays one.
[[gnu::always_inline]] inline uint32_t exchanged(uint32_t bits, float value) {
  const float amount = number(bits), there = amount * value;
  const float kept = there < kMinNormal ? kMinNormal : there < kMaxPrice ? there : kMaxPrice;
  return positive(bits, kMaxPrice) != 0 ? std::bit_cast<uint32_t>(kept) : bits;
}

TURNPIKE_WIDEST
void HeaderBatch::convert(const float* rates, bool border) {
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const float worth = number(exchange[k]) * rates[k];
    value[k] = worth > kMinRate ? worth < kMaxRate ? worth : kMaxRate : kMinRate;
  }
  if (border)
    for (size_t k = 0; k < n; ++k) value[k] = from_bfloat16(to_bfloat16(value[k]));
  for (size_t k = 0; k < n; ++k) highest[k] = value[k];
  for (size_t k = 0; k < n; ++k) balance[k] = exchanged(balance[k], value[k]);
  // A SYN's reserve is a rate.
  for (size_t k = 0; k < n; ++k)
    reserve[k] = rtt_ns[k] == 0 ? reserve[k] : exchanged(reserve[k], value[k]);
  converted = true;
  crosses = border;
}

// add_prices() of fcp/header.h, for many rows; the sum is rounded down to bfloat16, so that no
// sender owes a rounding error.
[[gnu::always_inline]] inline void HeaderBatch::add_charges(const double* own) {
  constexpr double kMin = kMinPrice.count();
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double path = number(charged[k]), link = own[k];
    const double alone = link > kFree ? link : kMin;
    const double more = link <= kFree ? path : path + link;
    const double sum = path <= kFree ? alone : more;
    const double bounded = sum > 0 ? sum < kMaxPrice ? sum : double{kMaxPrice} : 0;
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(bounded)) & 0xffff0000;
    charged[k] = rtt_ns[k] == 0 ? charged[k] : bits;
  }
}

TURNPIKE_WIDEST
void HeaderBatch::charge(const double* past, double unknown) {
  const bool young = unknown == std::numeric_limits<double>::infinity();
  alignas(64) std::array<double, kMax> own;
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double then = past[k], balance = balance_of(k);
    const double known = then == then ? then : unknown;  // true unless NaN
    const double lesser = balance < known ? balance : known;
    own[k] = young ? lesser : known;
  }
  for (size_t k = 0; k < n && converted; ++k)
    own[k] = std::isinf(highest[k]) ? std::min(own[k], balance_of(k)) / double{value[k]}
                                    : own[k] / double{highest[k]};
  add_charges(own.data());
  charges = true;
}

TURNPIKE_WIDEST
void HeaderBatch::encode_money() {
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const uint32_t worth = crosses ? uint32_t{to_bfloat16(value[k])} << 16 : exchange[k];
    charged[k] = wire::swap_be32(worth | charged[k] >> 16);
  }
}

void HeaderBatch::stamp_money(std::span<const LinkPacket> burst, uint64_t refused) {
  encode_money();
  const bool all = usual && refused == 0;
  for (size_t k = 0; k < burst.size(); ++k)
    if (all || stamps(burst[k], refused >> k))
      std::memcpy(burst[k].header + kExchangeOffset, &charged[k], sizeof charged[k]);
}

TURNPIKE_WIDEST
void HeaderBatch::cap_at_balance(double today, double unknown) {
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double past = paid[k], own = number(balance[k]);
    const double then = past == past ? past : unknown;  // true unless NaN
    const double lesser = then < own ? then : own;
    paid[k] = rtt_ns[k] == 0 ? today : lesser;
  }
}

HeaderBatch::Totals HeaderBatch::total(const Terms& terms) {
  return count <= kFew ? total_of_few(terms) : total_of_many(terms);
}

HeaderBatch::Totals HeaderBatch::total_of_few(const Terms& terms) {
  Totals all;
  uint64_t rtt_sum = 0;
  for (size_t k = 0; k < count; ++k) {
    promised[k] = 0;
    const Header h = header_of(k);
    const double rtt = h.rtt_ns == 0 ? terms.average_rtt : h.rtt_ns * 1e-9;
    const double pays = paid[k] * sizes[k];
    if (!credible(h)) {
      all.refused |= uint64_t{1} << k;
      continue;
    }
    if (sizes[k] == 0) continue;
    const double change = pays * std::max(h.preload / rtt, -terms.per_d);
    promised[k] = std::min(change, terms.max_commitment);
    all.clipped += change > terms.max_commitment ? 1 : 0;
    all.base += pays;
    all.promised += promised[k];
    rtt_sum += h.rtt_ns;
    all.rtt_count += h.rtt_ns == 0 ? 0 : 1;
  }
  all.rtt = static_cast<double>(rtt_sum) * 1e-9;
  return all;
}

// credible() of fcp/header.h, for many rows.
[[gnu::always_inline]] inline void HeaderBatch::validate(size_t rows, int32_t* sound) const {
  for (size_t k = 0; k < rows; ++k) {
    sound[k] =
        amount(price[k], kMaxPrice) & amount(balance[k], kMaxPrice) &
        amount(reserve[k], kMaxPrice) & amount(slot[k] & ~kSign, kMaxPrice) &
        amount(preload[k] & ~kSign, kMaxPreload) & positive(exchange[k], kMaxPrice) &
        amount(charged[k], kMaxPrice) &
        (static_cast<int32_t>(rtt_ns[k] == 0) | static_cast<int32_t>(rtt_ns[k] >= kMinRttNs));
  }
}

[[gnu::always_inline]] inline double round_trip(uint32_t ns, double average) {
  return ns == 0 ? average : static_cast<double>(ns) * 1e-9;
}

[[gnu::always_inline]] inline double HeaderBatch::sum_promises(size_t rows, const Terms& terms,
                                                               const double* worth,
                                                               uint32_t& clipped) {
  // 1 + preload d/rtt must not be negative: a packet takes back at most the budget that it brings.
  const double average = terms.average_rtt, least = -terms.per_d, most = terms.max_commitment;
  uint32_t beyond = 0;
  for (size_t k = 0; k < rows; ++k) {
    const double rtt = round_trip(rtt_ns[k], average);
    const double change = std::max(number(preload[k]) / rtt, least);
    const double promise = worth[k] != 0 ? worth[k] * change : 0;
    promised[k] = promise < most ? promise : most;
    beyond += promise > most ? 1 : 0;
  }
  clipped = beyond;
  return sum_of(promised.data(), rows);
}

TURNPIKE_WIDEST
HeaderBatch::Totals HeaderBatch::total_of_many(const Terms& terms) {
  const size_t n = rows();
  alignas(64) std::array<int32_t, kMax> sound;
  validate(n, sound.data());
  int32_t every = 1;
  for (size_t k = 0; k < n; ++k) every &= sound[k];

  alignas(64) std::array<double, kMax> worth;
  for (size_t k = 0; k < n; ++k) worth[k] = sound[k] != 0 ? paid[k] * sizes[k] : 0;
  uint64_t rtt_sum = 0;
  uint32_t known = 0;
  for (size_t k = 0; k < n; ++k) {
    const bool counted = sound[k] != 0 && sizes[k] != 0;
    rtt_sum += counted ? rtt_ns[k] : 0;
    known += counted && rtt_ns[k] != 0 ? 1 : 0;
  }
  Totals all{.base = sum_of(worth.data(), n),
             .rtt = static_cast<double>(rtt_sum) * 1e-9,
             .rtt_count = static_cast<double>(known)};
  if (promises) all.promised = sum_promises(n, terms, worth.data(), all.clipped);
  if (every == 0) [[unlikely]]
    for (size_t k = 0; k < count; ++k) all.refused |= uint64_t{sound[k] == 0} << k;
  return all;
}

// add_prices() of fcp/header.h, for many rows.
TURNPIKE_WIDEST
void HeaderBatch::add_price(double link) {
  const double alone = link > kFree ? link : kMinPrice.count();
  const double more = link > kFree ? link : 0;
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double path = number(price[k]);
    const double sum = std::min<double>(path <= kFree ? alone : path + more, kMaxPrice);
    price[k] = wire::swap_be32(std::bit_cast<uint32_t>(static_cast<float>(sum)));
  }
}

// The same in each row's own currency.
TURNPIKE_WIDEST
void HeaderBatch::add_converted_price(double link) {
  const bool free = link <= kFree;
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double path = number(price[k]);
    const double own = link / double{value[k]};
    const double alone = free ? kMinPrice.count() : own;
    const double more = free ? 0 : own;
    const double sum = std::min<double>(path <= kFree ? alone : path + more, kMaxPrice);
    price[k] = wire::swap_be32(std::bit_cast<uint32_t>(static_cast<float>(sum)));
  }
}

}  // namespace turnpike::fcp
