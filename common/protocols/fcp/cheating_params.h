// SPDX-License-Identifier: BSD-3-Clause
// Parameters of senders that cheat, for experiments with enforcement. All defaults are honest.
#pragma once

#include <array>
#include <cstdint>

#include "common/protocols/param.h"

namespace turnpike::fcp {

/// The ways to cheat, as indices into kCheatingParams and as bits of a LieSet. Those before
/// kLieCount are lies; the others say when they are in use.
enum CheatingParam : size_t {
  kPriceLie,
  kBalanceLie,
  kBudgetLie,
  kReserveLie,
  kRttLie,
  kAgeLie,
  kPreloadLie,
  kSlotLie,
  kExchangeLie,
  kIgnorePrice,
  kReplay,
  kForge,
  kLieCount,
  kDeclare = kLieCount,
  kCheatAfter,
  kCheatFor,
  kRestFor,
  kAdapt,
  kCheatingParamCount
};

/// A set of lies; bit i is CheatingParam i.
using LieSet = uint32_t;

inline constexpr std::array<ParamSpec, kCheatingParamCount> kCheatingParams{{
    {"price_lie", ParamUnit::kNumber, 1, 1e-12, 1e12,
     "for experiments: factor on the price that the flow pays by, as if its receiver forged it"},
    {"balance_lie", ParamUnit::kNumber, 1, 1e-12, 1e12,
     "for experiments: factor on the balance of its packets"},
    {"budget_lie", ParamUnit::kNumber, 1, 1e-6, 1e6,
     "for experiments: factor on its budget; its host's budget does not bound it then"},
    {"reserve_lie", ParamUnit::kNumber, 1, 1e-12, 1e12,
     "for experiments: factor on the reserve price of its data packets"},
    {"rtt_lie", ParamUnit::kNumber, 1, 1e-6, 1e6,
     "for experiments: factor on the round trip in its packets"},
    {"age_lie", ParamUnit::kNumber, 1, 1e-6, 1e6,
     "for experiments: factor on the age of the price in its packets"},
    {"preload_lie", ParamUnit::kNumber, 0, -1000, 1e12,
     "for experiments: added to the preload of data packets; factor 1 + this on a SYN's"},
    {"slot_lie", ParamUnit::kNumber, 1, 1e-9, 1e9,
     "for experiments: factor on the slot of its packets after the SYN"},
    {"exchange_lie", ParamUnit::kNumber, 1, 1e-9, 1e9,
     "for experiments: factor on the exchange rate in its packets"},
    {"ignore_price", ParamUnit::kRate, 0, 0, 1e13,
     "for experiments: rate to send at, whatever the price; 0: follow the price"},
    {"replay", ParamUnit::kTime, 0, 0, 60,
     "for experiments: takes the lowest price of so long; 0: the newest one"},
    {"forge", ParamUnit::kPrice, 0, 0, 1e12,
     "for experiments: upper bound of the price that it pays by; 0: none"},
    {"declare", ParamUnit::kWord, 0, 0, 1,
     "for experiments: whether slots declare the rate of ignore_price", kOffOn},
    {"cheat_after", ParamUnit::kTime, 0, 0, 3600,
     "for experiments: time from the SYN until the lies begin"},
    {"cheat_for", ParamUnit::kTime, 0, 0, 3600,
     "for experiments: duration of the lies before each rest; 0: without a rest"},
    {"rest_for", ParamUnit::kTime, 0, 0, 3600,
     "for experiments: duration of honesty between the lies"},
    {"adapt", ParamUnit::kTime, 0, 0, 60,
     "for experiments: tries one lie after another for twice so long each, keeps the one that "
     "delivers most, and tries again once that delivers less than half; 0: all lies at once"},
}};

/// The lies that these values tell; `first` is the index of kPriceLie among them.
inline LieSet lies_in(const ParamValues& values, size_t first) {
  LieSet lies = 0;
  for (size_t i = 0; i < kLieCount; ++i)
    if (values[first + i] != kCheatingParams[i].fallback) lies |= LieSet{1} << i;
  return lies;
}

}  // namespace turnpike::fcp
