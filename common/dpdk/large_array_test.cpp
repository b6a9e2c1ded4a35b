// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/large_array.h"

#include <cstdint>
#include <fstream>

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

/// Resident memory of this process, B.
size_t resident() {
  size_t pages = 0, all = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * 4096;
}

TEST(GrowingArray, TakesMemoryForWhatWasConstructed) {
  constexpr size_t kMany = size_t{64} << 20;
  const size_t before = resident();
  {
    GrowingArray<Counted> array(kMany, false);
    EXPECT_EQ(array.grow(), 0U);
    EXPECT_EQ(array.grow(), 1U);
    EXPECT_EQ(Counted::alive, 2);
    EXPECT_EQ(array[1].value, 7);
    EXPECT_EQ(array.size(), 2U);
    EXPECT_EQ(array.capacity(), kMany);
    EXPECT_LT(resident(), before + (size_t{16} << 20));
  }
  EXPECT_EQ(Counted::alive, 0);
  GrowingArray<uint8_t> populated(kMany);
  EXPECT_GE(resident(), before + kMany / 2) << "the kernel counts pages in batches";
}

TEST(GrowingArray, IsFullAtItsCapacity) {
  GrowingArray<int> array(3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(array.can_grow());
    EXPECT_EQ(array.grow(), i);
    EXPECT_EQ(array[i], 0);
  }
  EXPECT_FALSE(array.can_grow());
}

TEST(LargeArray, SaysWhenThereIsNoRoom) {
  EXPECT_THROW(LargeArray<uint8_t>(size_t{1} << 62), std::bad_alloc);
}

}  // namespace
}  // namespace turnpike
