// SPDX-License-Identifier: BSD-3-Clause
// FCP's congestion header at the branches of a multicast tree: the price of a tree is the sum of
// its links' prices, each counted once.
//
// A branching router takes the price of the path so far out of a request, so that each copy starts
// at zero, and adds it to the sum of its branches' prices in the answer:
//
//     answer.price = upstream price + sum over branches of their answers' prices
//
// A SYN's other fields that links rewrite are bounds: of all branches, the tightest holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/protocols/fcp/header.h"

namespace turnpike::fcp {

/// Bytes of a congestion header that take_price() changes.
inline constexpr size_t kTakenBegin = kPriceOffset, kTakenEnd = kReserveOffset;

/// Returns the price in a request, $/B, and sets it to zero there. A negative result: the price is
/// not credible, and the header is unchanged.
inline float take_price(uint8_t* header) {
  const float price = wire::load_f32(header + kPriceOffset);
  if (!credible_amount(price)) return -1;
  wire::store_f32(header + kPriceOffset, 0);
  return price;
}

/// The part of a branch's answer that the answers of all branches are joined from.
struct BranchAnswer {
  float price = 0;
  float reserve = 0;    // SYN: bound of the first round's rate, B/s, 0: none
  uint32_t age_ns = 0;  // SYN: wait before the first round
};

inline BranchAnswer load_branch(const uint8_t* header) {
  return {wire::load_f32(header + kPriceOffset), wire::load_f32(header + kReserveOffset),
          wire::load_be32(header + kAgeOffset)};
}

/// Adds a further branch's answer.
inline void add_branch(BranchAnswer& sum, const BranchAnswer& branch) {
  sum.price = static_cast<float>(add_prices(sum.price, branch.price));
  if (branch.reserve > 0)
    sum.reserve = sum.reserve > 0 ? std::min(sum.reserve, branch.reserve) : branch.reserve;
  sum.age_ns = std::max(sum.age_ns, branch.age_ns);
}

/// Writes the joined answer; `opens`: it answers a SYN, in whose header links rewrite more fields.
inline void store_branch(const BranchAnswer& joined, bool opens, uint8_t* header) {
  wire::store_f32(header + kPriceOffset, joined.price);
  if (!opens) return;
  wire::store_f32(header + kReserveOffset, joined.reserve);
  wire::store_be32(header + kAgeOffset, joined.age_ns);
}

}  // namespace turnpike::fcp
