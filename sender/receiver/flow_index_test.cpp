// SPDX-License-Identifier: BSD-3-Clause
// The index against a map, and the order of its positions.
#include "sender/receiver/flow_index.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::sender {
namespace {

TEST(FlowIndex, FindsWhatAMapFinds) {
  constexpr uint32_t kCapacity = 37;
  std::mt19937_64 rng(3);
  FlowIndex index(kCapacity, {rng(), rng()});
  std::map<FlowIndex::Words, uint32_t> expected;
  std::vector<FlowIndex::Words> keys(kCapacity);
  const auto find = [&](const FlowIndex::Words& key) {
    return index.find(key, [&](uint32_t at) { return keys[at] == key; });
  };
  for (int round = 0; round < 20'000; ++round) {
    const FlowIndex::Words key{rng() % 8, rng() % 4, rng() % 4};
    const auto known = expected.find(key);
    ASSERT_EQ(find(key), known == expected.end() ? FlowIndex::kNone : known->second);
    if (known != expected.end()) {
      index.erase(key, known->second);
      expected.erase(known);
      continue;
    }
    const uint32_t at = index.add(key);
    ASSERT_EQ(at == FlowIndex::kNone, expected.size() == kCapacity);
    if (at == FlowIndex::kNone) continue;
    ASSERT_LT(at, kCapacity);
    keys[at] = key;
    expected.emplace(key, at);
  }
}

TEST(FlowIndex, UsesPositionsInOrderThenTheOldest) {
  FlowIndex index(3, {1, 2});
  const auto key = [](uint64_t i) { return FlowIndex::Words{i, 0, 0}; };
  EXPECT_EQ(index.add(key(0)), 0U);
  EXPECT_EQ(index.add(key(1)), 1U);
  index.erase(key(0), 0);
  EXPECT_EQ(index.add(key(2)), 2U);
  index.erase(key(1), 1);
  EXPECT_EQ(index.add(key(3)), 0U);
  EXPECT_EQ(index.add(key(4)), 1U);
  EXPECT_EQ(index.add(key(5)), FlowIndex::kNone);
}

}  // namespace
}  // namespace turnpike::sender
