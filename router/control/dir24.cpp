// SPDX-License-Identifier: BSD-3-Clause
#include "router/control/dir24.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <rte_prefetch.h>

namespace turnpike::router {

void Dir24::apply(std::span<const Write> writes) {
  constexpr size_t kAhead = 16;  // the entries of random prefixes are in no cache
  LargeArray<uint32_t>& entries = *entries_;
  for (size_t i = 0; i < writes.size(); ++i) {
    if (i + kAhead < writes.size()) rte_prefetch0(&entries[writes[i + kAhead].at]);
    const Write& w = writes[i];
    for (uint32_t at = w.at; at < w.at + w.count; ++at) entries[at] = w.value;
  }
}

Dir24 Dir24::build(std::span<const FibEntry<config::Ipv4Prefix>> prefixes) {
  // Shorter prefixes first, so that longer ones replace them.
  std::vector<size_t> order(prefixes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return prefixes[i].prefix.length; });
  std::unordered_map<uint32_t, uint32_t> groups;  // block -> first entry of its group
  for (const auto& [prefix, value] : prefixes)
    if (prefix.length > 24) groups.try_emplace(prefix.address >> 8, 0);
  Dir24 table(static_cast<uint32_t>(groups.size()));
  LargeArray<uint32_t>& entries = *table.entries_;
  uint32_t end = kBlocks;
  for (const size_t i : order) {
    const auto& [prefix, value] = prefixes[i];
    const uint32_t block = prefix.address >> 8;
    if (prefix.length <= 24) {
      std::fill_n(&entries[block], size_t{1} << (24 - prefix.length), value);
      continue;
    }
    uint32_t& first = groups[block];
    if (first == 0) {
      first = end;
      end += kGroup;
      std::fill_n(&entries[first], kGroup, entries[block]);
      entries[block] = first | kGrouped;
    }
    std::fill_n(&entries[first + (prefix.address & 0xff)], size_t{1} << (32 - prefix.length),
                value);
  }
  return table;
}

}  // namespace turnpike::router
