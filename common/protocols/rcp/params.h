// SPDX-License-Identifier: BSD-3-Clause
// RCP's parameters with the values of the papers that compare with it. The enum indexes
// ParamValues.
#pragma once

#include <array>

#include "common/protocols/param.h"

namespace turnpike::rcp {

enum LinkParam : size_t {
  kAlpha,
  kBeta,
  kTarget,
  kFirstRtt,
  kFirstRate,
  kMinRate,
  kInterval,
  kLinkParamCount
};

inline constexpr std::array<ParamSpec, kLinkParamCount> kLinkParams{{
    {"alpha", ParamUnit::kNumber, 0.1, 0, 10, "gain on spare capacity"},
    {"beta", ParamUnit::kNumber, 1, 0, 10, "gain on the queue"},
    {"target", ParamUnit::kNumber, 1, 0.1, 1, "share of the capacity to be used"},
    {"first_rtt", ParamUnit::kTime, 0.1, 1e-6, 10, "average round trip before any is known"},
    {"first_rate", ParamUnit::kNumber, 0.05, 1e-9, 1, "rate of a new link, of its capacity"},
    {"least_rate", ParamUnit::kNumber, 0.01, 1e-9, 100, "packets of 1000 B per average round trip"},
    {"interval", ParamUnit::kTime, 0.01, 1e-4, 60,
     "between updates of the rate, or the average round trip if that is less"},
}};

inline constexpr std::array<Preset, 1> kPresets{{
    {"paper", "RCP as the papers run it that compare with it: gains 0.1 and 1", {}},
}};

}  // namespace turnpike::rcp
