// SPDX-License-Identifier: BSD-3-Clause
// The causes of a drop for a customer's budget, with their names in reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace turnpike::router {

/// Why a customer's packet is dropped.
enum class Refusal : uint8_t {
  kSpending,
  kCommitment,
  kOpenings,
  kUnpriced,
  kMisbehaviour,
  kCount,
  kNone = 255
};
inline constexpr size_t kRefusals = static_cast<size_t>(Refusal::kCount);
/// Names in reports.
inline constexpr std::array<std::string_view, kRefusals> kRefusalNames{
    "spending", "commitment", "openings", "unpriced", "misbehaviour"};

}  // namespace turnpike::router
