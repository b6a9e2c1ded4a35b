// SPDX-License-Identifier: BSD-3-Clause
// A longest-prefix-match table of IPv4 that changes by writes to ranges of its entries (DIR-24-8).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <rte_prefetch.h>

#include "common/dpdk/large_array.h"
#include "router/control/fib.h"

namespace turnpike::router {

/// An entry for each /24, and groups of 256 entries for those that hold longer prefixes. DPDK's FIB
/// finds what a change overwrites in a tree of its own, at 2 to 4 us per change and copy; here
/// Dir24Index finds it once, and each copy only gets the writes.
class Dir24 {
 public:
  static constexpr uint32_t kBlocks = 1U << 24, kGroup = 256;
  /// An entry with this bit is the index of a group's first entry.
  static constexpr uint32_t kGrouped = 1U << 31;

  /// Entries [at, at + count) get this value. Groups follow the entries of the blocks.
  struct Write {
    uint32_t at = 0, count = 0, value = 0;
  };

  Dir24() = default;
  /// With room for `groups` groups; all values are 0. Throws std::bad_alloc.
  explicit Dir24(uint32_t groups)
      : entries_(std::make_unique<LargeArray<uint32_t>>(kBlocks + size_t{groups} * kGroup)) {}

  /// B that a table takes.
  static constexpr size_t memory(uint32_t groups) {
    return (kBlocks + size_t{groups} * kGroup) * sizeof(uint32_t);
  }
  /// A table of these prefixes that does not change; a later entry of a prefix replaces an earlier
  /// one. Values are below kGrouped. Throws std::bad_alloc.
  static Dir24 build(std::span<const FibEntry<config::Ipv4Prefix>> prefixes);
  /// About as many B as build() takes for so many prefixes, a sixteenth of them longer than 24
  /// bits.
  static size_t built_memory(size_t prefixes) {
    return prefixes == 0 ? 0 : memory(static_cast<uint32_t>(prefixes / 16));
  }

  explicit operator bool() const { return entries_ != nullptr; }

  void find(std::span<const uint32_t> addresses, uint64_t* out) const {
    const LargeArray<uint32_t>& entries = *entries_;
    uint64_t any = 0;
    for (size_t i = 0; i < addresses.size(); ++i) any |= out[i] = entries[addresses[i] >> 8];
    if ((any & kGrouped) == 0) [[likely]]
      return;
    for (size_t i = 0; i < addresses.size(); ++i)
      if ((out[i] & kGrouped) != 0) [[unlikely]]
        out[i] = entries[(out[i] & ~kGrouped) + (addresses[i] & 0xff)];
  }

  /// Prefetches the first entry of an address.
  void prefetch(uint32_t address) const { rte_prefetch0(&(*entries_)[address >> 8]); }

  void apply(std::span<const Write> writes);

 private:
  std::unique_ptr<LargeArray<uint32_t>> entries_;
};

}  // namespace turnpike::router
