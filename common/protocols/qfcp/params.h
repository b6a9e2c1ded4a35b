// SPDX-License-Identifier: BSD-3-Clause
// QFCP's parameters with the paper's values. The enum indexes ParamValues.
#pragma once

#include <array>

#include "common/protocols/explicit_rate/newcomers.h"
#include "common/protocols/param.h"

namespace turnpike::qfcp {

enum LinkParam : size_t {
  kBeta,
  kFirstRtt,
  kFirstRate,
  kRttGain,
  kMinPeriod,
  kMaxPeriod,
  kFloor,
  kNewcomers,
  kLinkParamCount
};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"beta", ParamUnit::kNumber, 0.5, 0, 10, "gain on the queue, eq 3"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "period before any round trip is known"},
    {"first_rate", ParamUnit::kNumber, 1, 1e-9, 1, "rate of a new link, of its capacity"},
    {"rtt_gain", ParamUnit::kNumber, 1, 1e-3, 1,
     "of the average round trip, per period; 1: the mean of the last period's packets"},
    {"least_period", ParamUnit::kTime, 1e-3, 1e-6, 10, "least control period"},
    {"most_period", ParamUnit::kTime, 2, 1e-6, 60, "largest control period"},
    {"floor", ParamUnit::kNumber, 0.05, 0, 1, "least share of the capacity in eq 3's numerator"},
    {"newcomers", ParamUnit::kWord, 0, 0, 1, explicit_rate::kNewcomersDoc,
     explicit_rate::kNewcomerRules},
}};

inline constexpr std::array<Preset::Value, 1> kPublished{{
    {true, "newcomers", static_cast<double>(explicit_rate::NewcomerRule::kUnlimited)},
}};
inline constexpr std::array<Preset, 1> kPresets{{
    {"paper", "QFCP as published: every SYN gets the link's rate", kPublished},
}};

}  // namespace turnpike::qfcp
