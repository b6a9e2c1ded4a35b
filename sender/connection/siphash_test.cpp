// SPDX-License-Identifier: BSD-3-Clause
// SipHash by its authors' test vectors, and flow ids.
#include "sender/connection/siphash.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "sender/connection/flow_id.h"

namespace turnpike::sender {
namespace {

// Of the key 00 01 .. 0f and the messages of 0, 8 and 16 bytes 00 01 .. (the reference
// implementation's vectors).
TEST(SipHash, GivesTheReferenceVectors) {
  const SecretKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const std::array<uint64_t, 2> words{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(siphash(key, {}), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(siphash(key, std::span(words).first(1)), 0x93f5f5799a932462U);
  EXPECT_EQ(siphash(key, words), 0x3f2acc7f57c29bdbU);
}

TEST(FlowIdCode, ComesBackForEveryKey) {
  for (const uint64_t key : {uint64_t{0}, uint64_t{1}, 0x123456789abcdef0U, UINT64_MAX}) {
    const FlowIdCode code(key);
    std::set<uint32_t> seen;
    for (uint32_t n = 0; n < 5000; ++n) {
      const uint32_t id = code.id_of(n * 858'993);
      ASSERT_EQ(code.number_of(id), n * 858'993);
      ASSERT_TRUE(seen.insert(id).second);
    }
  }
}

TEST(FlowIdCode, NeighboursAndKeysHaveNothingInCommon) {
  const FlowIdCode a(77), b(78);
  int equal_bits = 0;
  for (uint32_t n = 0; n < 1000; ++n) {
    equal_bits += 32 - std::popcount(a.id_of(n) ^ a.id_of(n + 1));
    EXPECT_NE(a.id_of(n), b.id_of(n));
  }
  EXPECT_NEAR(equal_bits / 1000., 16, 1.5);
}

TEST(FlowIdCode, NamesTheLcoreOfAnId) {
  for (const unsigned lcores : {1U, 2U, 3U, 8U, 64U}) {
    std::set<uint32_t> seen;
    for (unsigned own = 0; own < lcores; ++own) {
      const FlowIdCode code(77, lcores, own), any(77, lcores), other(0x123456789abcdef0, lcores);
      std::vector<unsigned> of_others(lcores);
      constexpr uint32_t kIds = 6400;
      for (uint32_t n = 0; n < kIds; ++n) {
        const uint32_t id = code.id_of(n * 858'993);
        ASSERT_EQ(any.lcore_of(id), own);
        ASSERT_EQ(code.id_of(code.number_of(id)), id);
        ASSERT_TRUE(seen.insert(id).second);
        ++of_others[other.lcore_of(id)];
      }
      // Each lcore has a part of ids of another key. There are a fourth for the first of three.
      for (const unsigned part : of_others) EXPECT_GT(part, kIds / lcores / 2);
    }
  }
}

}  // namespace
}  // namespace turnpike::sender
