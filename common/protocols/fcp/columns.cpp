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
    put_nothing(k);
    paid[k] = 0;
  }
  for (size_t k = 0; k < n; ++k) {
    rtt_ns[k] = wire::swap_be32(first_four_[k][0]);
    price[k] = wire::swap_be32(first_four_[k][1]);
    preload[k] = wire::swap_be32(first_four_[k][2]);
    balance[k] = wire::swap_be32(first_four_[k][3]);
  }
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
  uint64_t rtt_sum = 0;
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
    if (sizes[k] == 0) continue;
    promised[k] = pays * std::max(h.preload / rtt, -terms.per_d);
    all.base += pays;
    all.promised += promised[k];
    rtt_sum += h.rtt_ns;
    all.rtt_count += h.rtt_ns == 0 ? 0 : 1;
  }
  all.rtt = static_cast<double>(rtt_sum) * 1e-9;
  return all;
}

// credible() of fcp/header.h
[[gnu::always_inline]] inline void Columns::judge(size_t rows, int32_t* sound) const {
  for (size_t k = 0; k < rows; ++k) {
    const float change = number(preload[k]), rate = number(exchange[k]);
    sound[k] =
        amount(number(price[k]), kMaxPrice) & amount(number(balance[k]), kMaxPrice) &
        amount(change < 0 ? -change : change, kMaxPreload) &
        static_cast<int32_t>(rate >= kLeastNormal) & static_cast<int32_t>(rate <= kMaxPrice) &
        (static_cast<int32_t>(rtt_ns[k] == 0) | static_cast<int32_t>(rtt_ns[k] >= kLeastRttNs));
  }
}

[[gnu::always_inline]] inline double round_trip(uint32_t ns, double average) {
  return ns == 0 ? average : static_cast<double>(ns) * 1e-9;
}

[[gnu::always_inline]] inline void Columns::judge_promises(size_t rows, const Terms& terms,
                                                           int32_t* sound) const {
  const double average = terms.average_rtt, most = terms.max_commitment;
  for (size_t k = 0; k < rows; ++k) {
    const double rtt = round_trip(rtt_ns[k], average), pays = paid[k] * sizes[k];
    sound[k] &= static_cast<int32_t>(pays * number(preload[k]) <= most * rtt);
  }
}

[[gnu::always_inline]] inline double Columns::sum_promises(size_t rows, const Terms& terms,
                                                           const double* worth) {
  // 1 + preload d/rtt must not be negative: a packet can take back no more than it brings.
  const double average = terms.average_rtt, least = -terms.per_d;
  for (size_t k = 0; k < rows; ++k) {
    const double rtt = round_trip(rtt_ns[k], average);
    const double change = std::max(number(preload[k]) / rtt, least);
    promised[k] = worth[k] != 0 ? worth[k] * change : 0;
  }
  return sum_of(promised.data(), rows);
}

TURNPIKE_WIDEST
Columns::Totals Columns::total_of_many(const Terms& terms) {
  const size_t n = rows();
  alignas(64) std::array<int32_t, kMost> sound;
  judge(n, sound.data());
  if (promises) judge_promises(n, terms, sound.data());
  int32_t every = 1;
  for (size_t k = 0; k < n; ++k) every &= sound[k];

  alignas(64) std::array<double, kMost> worth;
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
  if (promises) all.promised = sum_promises(n, terms, worth.data());
  if (every == 0) [[unlikely]]
    for (size_t k = 0; k < count; ++k) all.refused |= uint64_t{sound[k] == 0} << k;
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
