// SPDX-License-Identifier: BSD-3-Clause
// Exact quantiles in memory that does not grow with the number of values.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace turnpike::sender {

/// For each of the shares (0 to 1), the smallest value that at least that share of all values does
/// not exceed; empty without values. `visit(f)` calls f(uint64_t) for each value, in any order, and
/// is called twice: the first time values are counted by bucket, 1024 per octave, the second time
/// the distinct values of those buckets are, into which the ranks fall.
template <class Visit>
std::vector<uint64_t> quantiles(Visit&& visit, std::span<const double> shares) {
  constexpr int kBits = 10;  // values of fewer than kBits + 1 bits have a bucket each
  const auto bucket_of = [](uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kBits + 1));
    return (static_cast<size_t>(shift) << kBits) + static_cast<size_t>(value >> shift);
  };
  std::vector<uint64_t> counts(bucket_of(UINT64_MAX) + 1);
  uint64_t total = 0;
  visit([&](uint64_t value) {
    ++counts[bucket_of(value)];
    ++total;
  });
  if (total == 0) return {};

  struct Rank {
    size_t bucket;
    uint64_t within;  // 1: the least of its bucket
  };
  std::vector<Rank> ranks;
  std::map<size_t, std::map<uint64_t, uint64_t>> values;  // bucket -> value -> count
  for (const double share : shares) {
    const double rank = std::ceil(share * static_cast<double>(total));
    Rank r{.bucket = 0, .within = std::clamp<uint64_t>(static_cast<uint64_t>(rank), 1, total)};
    while (r.within > counts[r.bucket]) r.within -= counts[r.bucket++];
    ranks.push_back(r);
    values[r.bucket];
  }
  visit([&](uint64_t value) {
    if (const auto wanted = values.find(bucket_of(value)); wanted != values.end())
      ++wanted->second[value];
  });

  std::vector<uint64_t> found;
  for (Rank r : ranks) {
    auto at = values[r.bucket].begin();
    for (; r.within > at->second; ++at) r.within -= at->second;
    found.push_back(at->first);
  }
  return found;
}

}  // namespace turnpike::sender
