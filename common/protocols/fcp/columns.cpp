// SPDX-License-Identifier: BSD-3-Clause
// Loops without branches over whole columns, which the compiler turns into vectors: of 64, 32 or 16
// bytes, by the machine that the program starts on. To see that it does:
// g++ -std=c++20 -O3 -I. -ffp-contract=off -fno-trapping-math -fopt-info-vec -c
// common/protocols/fcp/columns.cpp
#include "common/protocols/fcp/columns.h"

#include <algorithm>
#include <bit>

// Sanitizers cannot choose a function before they have started, and clang 14 knows no clones.
#if defined(__clang__) || defined(TURNPIKE_INSTRUMENTED)
#define TURNPIKE_WIDEST
#else
#define TURNPIKE_WIDEST [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif

namespace turnpike::fcp {

namespace {

// Sums of rows, in the same order on every machine: one sum for each eighth row.
constexpr size_t kLanes = 8;

[[gnu::always_inline]] inline double sum_of(const double* column, size_t rows) {
  double lanes[kLanes] = {};
  for (size_t k = 0; k < rows; k += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += column[k + lane];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

[[gnu::always_inline]] inline float number(uint32_t bits) { return std::bit_cast<float>(bits); }

[[gnu::always_inline]] inline int32_t amount(float v, float most) {
  return static_cast<int32_t>(v == 0) |
         (static_cast<int32_t>(v >= kLeastNormal) & static_cast<int32_t>(v <= most));
}

}  // namespace

size_t Columns::rows() const {
  return count <= kFew ? count : (count + kLanes - 1) / kLanes * kLanes;
}

TURNPIKE_WIDEST
void Columns::decode() {
  const size_t n = rows();
  for (size_t k = count; k < n; ++k) {
    rtt_ns[k] = price[k] = preload[k] = balance[k] = 0;
    exchange[k] = wire::swap_be32(std::bit_cast<uint32_t>(1.0F));
    sizes[k] = admits[k] = 0;
    paid[k] = 0;
  }
  for (size_t k = 0; k < n; ++k) rtt_ns[k] = wire::swap_be32(rtt_ns[k]);
  for (size_t k = 0; k < n; ++k) price[k] = wire::swap_be32(price[k]);
  for (size_t k = 0; k < n; ++k) preload[k] = wire::swap_be32(preload[k]);
  for (size_t k = 0; k < n; ++k) balance[k] = wire::swap_be32(balance[k]);
  for (size_t k = 0; k < n; ++k) exchange[k] = wire::swap_be32(exchange[k]);
  uint32_t any = 0;
  for (size_t k = 0; k < n; ++k) any |= preload[k];
  promises = any != 0;
}

TURNPIKE_WIDEST
void Columns::pay_lesser(double today) {
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double then = paid[k], own = number(balance[k]);
    const double lesser = then < own ? then : own;  // NaN is not less
    paid[k] = rtt_ns[k] == 0 ? today : lesser;
  }
}

Columns::Totals Columns::total(const Terms& terms) {
  return count <= kFew ? total_of_few(terms) : total_of_many(terms);
}

Columns::Totals Columns::total_of_few(const Terms& terms) {
  Totals all;
  for (size_t k = 0; k < count; ++k) {
    promised[k] = 0;
    const Header h{rtt_ns[k], number(price[k]), number(preload[k]), number(balance[k]),
                   number(exchange[k])};
    const double rtt = h.rtt_ns == 0 ? terms.average_rtt : h.rtt_ns * 1e-9;
    const double pays = paid[k] * sizes[k];
    if (!credible(h) || !(pays * h.preload <= terms.max_commitment * rtt)) {
      all.refused |= uint64_t{1} << k;
      continue;
    }
    if (admits[k] == 0) continue;
    promised[k] = pays * std::max(h.preload / rtt, -1 / terms.d);
    all.base += pays;
    all.promised += promised[k];
    all.rtt += h.rtt_ns == 0 ? 0 : rtt;
    all.rtt_count += h.rtt_ns == 0 ? 0 : 1;
  }
  return all;
}

TURNPIKE_WIDEST
Columns::Totals Columns::total_of_many(const Terms& terms) {
  const size_t n = rows();
  // credible() of fcp/header.h
  alignas(64) std::array<int32_t, kMost> sound;
  for (size_t k = 0; k < n; ++k) {
    const float change = number(preload[k]), rate = number(exchange[k]);
    sound[k] =
        amount(number(price[k]), kMaxPrice) & amount(number(balance[k]), kMaxPrice) &
        amount(change < 0 ? -change : change, kMaxPreload) &
        static_cast<int32_t>(rate >= kLeastNormal) & static_cast<int32_t>(rate <= kMaxPrice) &
        (static_cast<int32_t>(rtt_ns[k] == 0) | static_cast<int32_t>(rtt_ns[k] >= kLeastRttNs));
  }

  alignas(64) std::array<double, kMost> rtt, worth, known_rtt, known;
  alignas(64) std::array<int64_t, kMost> believed;
  const double average_rtt = terms.average_rtt, most = terms.max_commitment;
  for (size_t k = 0; k < n; ++k)
    rtt[k] = rtt_ns[k] == 0 ? average_rtt : static_cast<double>(rtt_ns[k]) * 1e-9;
  for (size_t k = 0; k < n; ++k) {
    const double pays = paid[k] * sizes[k];
    believed[k] = sound[k] & static_cast<int64_t>(pays * number(preload[k]) <= most * rtt[k]);
    const bool counted = (believed[k] & admits[k]) != 0;
    worth[k] = counted ? pays : 0;
    known[k] = counted && rtt_ns[k] != 0 ? 1 : 0;
    known_rtt[k] = counted && rtt_ns[k] != 0 ? rtt[k] : 0;
  }

  Totals all{.base = sum_of(worth.data(), n),
             .rtt = sum_of(known_rtt.data(), n),
             .rtt_count = sum_of(known.data(), n)};
  if (promises) {
    // 1 + preload d/rtt must not be negative: a packet can take back no more than it brings.
    const double least = -1 / terms.d;
    for (size_t k = 0; k < n; ++k) {
      const double change = std::max(number(preload[k]) / rtt[k], least);
      promised[k] = worth[k] != 0 ? worth[k] * change : 0;
    }
    all.promised = sum_of(promised.data(), n);
  }
  int64_t every = 1;
  for (size_t k = 0; k < n; ++k) every &= believed[k];
  if (every == 0) [[unlikely]]
    for (size_t k = 0; k < count; ++k)
      all.refused |= (~static_cast<uint64_t>(believed[k]) & 1) << k;
  return all;
}

// add_prices() of fcp/header.h
TURNPIKE_WIDEST
void Columns::stamp(double link) {
  const double alone = link > kFree ? link : kMinPrice.count();
  const double more = link > kFree ? link : 0;
  const size_t n = rows();
  for (size_t k = 0; k < n; ++k) {
    const double path = number(price[k]);
    const double sum = std::min<double>(path <= kFree ? alone : path + more, kMaxPrice);
    price[k] = wire::swap_be32(std::bit_cast<uint32_t>(static_cast<float>(sum)));
  }
}

}  // namespace turnpike::fcp
