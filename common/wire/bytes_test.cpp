// SPDX-License-Identifier: BSD-3-Clause
// Numbers read back as stored, at any alignment, and are in network order.
#include "common/wire/bytes.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace turnpike::wire {
namespace {

TEST(Bytes, LieInNetworkOrder) {
  std::array<uint8_t, 8> b{};
  store_be16(b.data(), 0x0102);
  EXPECT_EQ(b, (std::array<uint8_t, 8>{1, 2}));
  store_be32(b.data(), 0x01020304);
  EXPECT_EQ(b, (std::array<uint8_t, 8>{1, 2, 3, 4}));
  store_be64(b.data(), 0x0102030405060708);
  EXPECT_EQ(b, (std::array<uint8_t, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
  store_f32(b.data(), 1.0f);  // 0x3f800000
  EXPECT_EQ(b, (std::array<uint8_t, 8>{0x3f, 0x80, 0, 0, 5, 6, 7, 8}));
}

TEST(Bytes, ComeBackAtAnyAlignment) {
  for (size_t offset = 0; offset < 8; ++offset) {
    std::array<uint8_t, 16> b{};
    store_be16(b.data() + offset, 0xfedc);
    EXPECT_EQ(load_be16(b.data() + offset), 0xfedc);
    store_be32(b.data() + offset, 0xfedcba98);
    EXPECT_EQ(load_be32(b.data() + offset), 0xfedcba98);
    store_be64(b.data() + offset, 0xfedcba9876543210);
    EXPECT_EQ(load_be64(b.data() + offset), 0xfedcba9876543210);
  }
}

TEST(Bytes, FloatsKeepEveryBit) {
  std::array<uint8_t, 4> b{};
  using Limits = std::numeric_limits<float>;
  for (const float v : {0.0f, -0.0f, 1e-18f, -1e13f, Limits::denorm_min(), Limits::max(),
                        Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    store_f32(b.data(), v);
    EXPECT_EQ(std::bit_cast<uint32_t>(load_f32(b.data())), std::bit_cast<uint32_t>(v));
  }
}

}  // namespace
}  // namespace turnpike::wire
