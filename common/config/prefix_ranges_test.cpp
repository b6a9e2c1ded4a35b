// SPDX-License-Identifier: BSD-3-Clause
// Ranges of addresses against a search of all prefixes.
#include "common/config/prefix_ranges.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace turnpike::config {
namespace {

template <class Prefix>
void expect_longest_matches(const std::vector<std::pair<Prefix, int>>& prefixes,
                            const std::vector<decltype(Prefix::address)>& addresses) {
  const PrefixRanges<Prefix, int> ranges(prefixes, -1);
  for (const auto& address : addresses) {
    const std::pair<Prefix, int>* best = nullptr;
    for (const auto& p : prefixes)
      if (contains(p.first, address) && (best == nullptr || p.first.length > best->first.length))
        best = &p;
    EXPECT_EQ(ranges.find(address), best == nullptr ? -1 : best->second);
  }
}

TEST(PrefixRanges, FindTheLongestMatch) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<Ipv4Prefix, int>> prefixes;
    std::vector<Ipv4> addresses{0, ~Ipv4{0}};
    // Few distinct bits at both ends of the address, so that prefixes nest, touch and repeat.
    const auto address = [&] {
      return static_cast<Ipv4>(rng() & 0xe0000007) - Ipv4{rng() % 2 == 0};
    };
    for (int i = 0; i < 1 + round % 20; ++i) {
      prefixes.push_back({{address(), static_cast<uint8_t>(rng() % 33)}, i});
      for (const Ipv4 at :
           {network(prefixes.back().first).address, last_address(network(prefixes.back().first))})
        addresses.insert(addresses.end(), {at, at - 1, at + 1});
    }
    expect_longest_matches(prefixes, addresses);
  }
}

TEST(PrefixRanges, FindTheLongestMatchOfIpv6) {
  std::mt19937_64 rng(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<Ipv6Prefix, int>> prefixes;
    std::vector<Ipv6> addresses{Ipv6{}, last_address(Ipv6Prefix{{}, 0})};
    const auto address = [&] {
      Ipv6 a = rng() % 3 == 0 ? last_address(Ipv6Prefix{{}, 0}) : Ipv6{};
      a[0] = static_cast<uint8_t>(rng() & 0xe0);
      a[15] = static_cast<uint8_t>(rng() & 3);
      return a;
    };
    for (int i = 0; i < 1 + round % 20; ++i) {
      prefixes.push_back({{address(), static_cast<uint8_t>(rng() % 129)}, i});
      const Ipv6 last = last_address(network(prefixes.back().first));
      addresses.insert(addresses.end(), {address(), network(prefixes.back().first).address, last});
      if (const auto after = next_address(last)) addresses.push_back(*after);
    }
    expect_longest_matches(prefixes, addresses);
  }
}

}  // namespace
}  // namespace turnpike::config
