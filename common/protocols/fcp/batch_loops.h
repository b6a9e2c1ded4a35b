// SPDX-License-Identifier: BSD-3-Clause
// For loops without branches over whole columns, which the compiler turns into vectors: of 64, 32
// or 16 bytes, by the machine that the program starts on. To see that it does:
// g++ -std=c++20 -O3 -I. -ffp-contract=off -fno-trapping-math -fopt-info-vec -c
// common/protocols/fcp/header_batch.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/header.h"

// Sanitizers cannot choose a function before they have started, and clang 14 knows no clones.
#if defined(__clang__) || defined(TURNPIKE_INSTRUMENTED)
#define TURNPIKE_WIDEST
#else
#define TURNPIKE_WIDEST [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif

namespace turnpike::fcp {

// Sums of rows, in the same order on every machine: one sum for each eighth row.
inline constexpr size_t kLanes = 8;

template <class T>
[[gnu::always_inline]] inline T sum_of(const T* column, size_t rows) {
  T lanes[kLanes] = {};
  for (size_t k = 0; k < rows; k += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += column[k + lane];
  T sum = 0;
  for (const T lane : lanes) sum += lane;
  return sum;
}

[[gnu::always_inline]] inline float number(uint32_t bits) { return std::bit_cast<float>(bits); }

inline constexpr uint32_t kSign = 0x80000000;

// Whether the number of these bits is normal, positive and at most `most`. Bits of positive numbers
// are in the order of the numbers, negative ones and NaN above them.
[[gnu::always_inline]] inline int32_t positive(uint32_t bits, float most) {
  constexpr auto kMin = std::bit_cast<uint32_t>(kMinNormal);
  return static_cast<int32_t>(bits - kMin <= std::bit_cast<uint32_t>(most) - kMin);
}
// credible_amount() of fcp/header.h
[[gnu::always_inline]] inline int32_t amount(uint32_t bits, float most) {
  return positive(bits, most) | static_cast<int32_t>((bits & ~kSign) == 0);
}

}  // namespace turnpike::fcp
