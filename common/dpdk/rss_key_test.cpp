// SPDX-License-Identifier: BSD-3-Clause
#include "common/dpdk/rss_key.h"

#include <array>
#include <random>
#include <set>
#include <span>

#include <gtest/gtest.h>
#include <rte_thash.h>

namespace turnpike {
namespace {

/// The input of the hash as words in host order, and the same of the other direction.
template <size_t kAddressWords>
struct Tuple {
  std::array<uint32_t, 2 * kAddressWords + 1> forward{}, backward{};

  explicit Tuple(std::mt19937& random) {
    for (size_t w = 0; w < kAddressWords; ++w) {
      forward[w] = backward[kAddressWords + w] = static_cast<uint32_t>(random());
      forward[kAddressWords + w] = backward[w] = static_cast<uint32_t>(random());
    }
    const auto ports = static_cast<uint32_t>(random());
    forward[2 * kAddressWords] = ports;
    backward[2 * kAddressWords] = ports << 16 | ports >> 16;
  }
};

// A NIC hashes addresses alone, or addresses and ports.
template <size_t kAddressWords>
void hashes_both_directions_alike(const std::vector<uint8_t>& key, unsigned draws) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < draws; ++i) {
    Tuple<kAddressWords> t(random);
    for (const uint32_t words : {2 * kAddressWords, 2 * kAddressWords + 1})
      EXPECT_EQ(rte_softrss(t.forward.data(), words, key.data()),
                rte_softrss(t.backward.data(), words, key.data()));
  }
}

TEST(RssKey, HashesBothDirectionsAlikeForKeysOfAnyLength) {
  for (const size_t size : {40, 52, 48, 64}) {
    const std::vector<uint8_t> key = symmetric_rss_key(size);
    ASSERT_EQ(key.size(), size);
    hashes_both_directions_alike<1>(key, 1000);
    hashes_both_directions_alike<4>(key, 1000);
  }
  EXPECT_TRUE(symmetric_rss_key(0).empty());
}

// The key that Microsoft's specification of RSS gives, and that many drivers have.
TEST(RssKey, TheUsualKeyDoesNot) {
  const std::array<uint8_t, 40> usual{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                      0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                      0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                      0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
  std::mt19937 random(7);
  unsigned alike = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    Tuple<1> t(random);
    alike += rte_softrss(t.forward.data(), 3, usual.data()) ==
             rte_softrss(t.backward.data(), 3, usual.data());
  }
  EXPECT_EQ(alike, 0U);
}

TEST(RssKey, SpreadsConnectionsOverAllBuckets) {
  const std::vector<uint8_t> key = symmetric_rss_key(40);
  std::mt19937 random(7);
  constexpr unsigned kBuckets = 128, kFlows = 100 * kBuckets;
  std::array<unsigned, kBuckets> flows{};
  for (unsigned i = 0; i < kFlows; ++i) {
    Tuple<1> t(random);
    ++flows[rte_softrss(t.forward.data(), 3, key.data()) % kBuckets];
  }
  for (const unsigned n : flows) {  // 100 each, within six standard deviations
    EXPECT_GT(n, 40U);
    EXPECT_LT(n, 160U);
  }
}

}  // namespace
}  // namespace turnpike
