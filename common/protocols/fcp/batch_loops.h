// SPDX-License-Identifier: BSD-3-Clause
// Helpers for branch-free loops over whole columns, which the compiler vectorises for 64, 32 or 16
// bytes; the machine at run time decides which. To check the vectorisation:
// g++ -std=c++20 -O3 -I. -ffp-contract=off -fno-trapping-math -fopt-info-vec -c
// common/protocols/fcp/header_batch.cpp
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/protocols/fcp/header.h"
#include "common/wire/widest.h"

namespace turnpike::fcp {

// Sums rows in the same order on every machine: one partial sum for each eighth row.
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

// Whether the binary32 with these bits is normal, positive and at most `most`. Bits of positive
// numbers compare like the numbers; those of negative numbers and NaN are greater.
[[gnu::always_inline]] inline int32_t positive(uint32_t bits, float most) {
  constexpr auto kMin = std::bit_cast<uint32_t>(kMinNormal);
  return static_cast<int32_t>(bits - kMin <= std::bit_cast<uint32_t>(most) - kMin);
}
// credible_amount() of fcp/header.h
[[gnu::always_inline]] inline int32_t amount(uint32_t bits, float most) {
  return positive(bits, most) | static_cast<int32_t>((bits & ~kSign) == 0);
}

}  // namespace turnpike::fcp
