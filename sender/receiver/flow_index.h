// SPDX-License-Identifier: BSD-3-Clause
// Finds the flows that a host receives by their keys.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sender/connection/siphash.h"

namespace turnpike::sender {

/// A hash table with chains, of positions from 0 on; the owner has the keys. Positions are used in
/// order at first, then those that have been free longest. Allocates no memory after construction.
/// The hash depends on a secret, so that hosts cannot choose keys that share a chain. rte_hash
/// takes a memzone of each host, of which DPDK has 2,560: too few for the lab's large worlds.
class FlowIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Words = std::array<uint64_t, 3>;

  FlowIndex(uint32_t capacity, const SecretKey& secret)
      : factors_{secret[0] | 1, secret[1] | 1, std::rotl(secret[0] ^ secret[1], 32) | 1},
        chains_(std::bit_ceil(std::max(capacity, 2U)), kNone),
        shift_(64 - std::countr_zero(chains_.size())),
        next_(capacity),
        free_(capacity) {}

  /// The position of a key; kNone: it is not there. `same(position)`: whether it has the key.
  [[nodiscard]] uint32_t find(const Words& key, auto&& same) const {
    uint32_t at = chains_[chain_of(key)];
    while (at != kNone && !same(at)) at = next_[at];
    return at;
  }
  /// A position for a key that is not there; kNone: all are in use.
  uint32_t add(const Words& key) {
    const uint32_t at = take();
    if (at == kNone) return kNone;
    uint32_t& chain = chains_[chain_of(key)];
    next_[at] = chain;
    chain = at;
    return at;
  }
  /// The key is at that position.
  void erase(const Words& key, uint32_t at) {
    uint32_t* link = &chains_[chain_of(key)];
    while (*link != at) link = &next_[*link];
    *link = next_[at];
    free_[last_] = at;
    last_ = after(last_);
    ++freed_;
  }

 private:
  [[nodiscard]] size_t chain_of(const Words& key) const {
    const uint64_t mixed = key[0] * factors_[0] + std::rotl(key[1], 21) * factors_[1] +
                           std::rotl(key[2], 42) * factors_[2];
    return (mixed * 0x9e3779b97f4a7c15) >> shift_;
  }
  [[nodiscard]] uint32_t after(uint32_t i) const { return i + 1 == free_.size() ? 0 : i + 1; }
  [[nodiscard]] uint32_t take() {
    if (used_ < free_.size()) return used_++;
    if (freed_ == 0) return kNone;
    const uint32_t at = free_[first_];
    first_ = after(first_);
    --freed_;
    return at;
  }

  Words factors_;
  std::vector<uint32_t> chains_;  // by hash: the first position
  int shift_;
  std::vector<uint32_t> next_;     // by position, in its chain
  std::vector<uint32_t> free_;     // a ring of positions, oldest first
  uint32_t first_ = 0, last_ = 0;  // in it
  uint32_t used_ = 0, freed_ = 0;  // positions that were ever in use; of them, free ones
};

}  // namespace turnpike::sender
