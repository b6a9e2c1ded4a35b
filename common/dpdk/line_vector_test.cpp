// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/line_vector.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

TEST(LineVector, SharesNoCacheLine) {
  std::vector<LineVector<uint16_t>> many;
  for (size_t n = 1; n < 100; ++n) many.emplace_back(n);
  std::vector<uintptr_t> lines;
  for (const auto& v : many) {
    const auto begin = reinterpret_cast<uintptr_t>(v.data());
    EXPECT_EQ(begin % RTE_CACHE_LINE_SIZE, 0U);
    for (uintptr_t at = begin; at < begin + v.size() * sizeof(uint16_t); at += RTE_CACHE_LINE_SIZE)
      lines.push_back(at);
  }
  std::ranges::sort(lines);
  EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end());
}

}  // namespace
}  // namespace turnpike
