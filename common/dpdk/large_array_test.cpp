// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/large_array.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace turnpike {
namespace {

struct Counted {
  static inline int alive = 0;
  int value = 7;
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

TEST(LargeArray, ConstructsEveryElementOnceAndDestroysIt) {
  {
    LargeArray<Counted> array(1'000'000);
    EXPECT_EQ(Counted::alive, 1'000'000);
    EXPECT_EQ(array.size(), 1'000'000U);
    EXPECT_EQ(array[0].value + array[999'999].value, 14);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(LargeArray, BeginsOnALargePageHoweverSmallItIs) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{3} << 20}) {
    LargeArray<uint8_t> array(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&array[0]) % (uintptr_t{2} << 20), 0U);
    for (size_t i = 0; i < size; i += 4095) EXPECT_EQ(array[i], 0);
  }
}

TEST(LargeArray, SaysWhenThereIsNoRoom) {
  EXPECT_THROW(LargeArray<uint8_t>(size_t{1} << 62), std::bad_alloc);
}

}  // namespace
}  // namespace turnpike
